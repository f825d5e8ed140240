#include "runner/snapshot/file/read_snapshot.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/record_checks.h"
#include "runner/snapshot/file/records.h"

namespace leakgate {
namespace {

using snapshot_format::ByteReader;
using snapshot_format::Part;
using snapshot_format::PartKind;
using snapshot_format::PartReader;

}  // namespace

// Checks what the parts hold, and passes it to the visitor.
class SnapshotReader::Checks {
 public:
  Checks(std::istream& in, const std::string& name) : parts_(in, name) {}

  Expected<bool> ReadPart(const SnapshotVisitor& visitor) {
    if (!has_begun_) {
      LEAKGATE_TRY(parts_.ReadFirstLine());
      has_begun_ = true;
    }
    LEAKGATE_TRY_ASSIGN(const std::optional<Part> part, parts_.Next());
    if (!part && !is_closed_) return parts_.Broken("its end is missing");
    if (!part) return false;
    if (is_closed_) return parts_.Broken("something follows its end");
    LEAKGATE_TRY(Use(*part, visitor));
    return true;
  }

 private:
  Expected<void> Use(const Part& part, const SnapshotVisitor& visit) {
    const auto kind = static_cast<PartKind>(part.kind);
    if ((kind == PartKind::kFacts) == records_.has_facts()) {
      return parts_.Broken(records_.has_facts() ? "its beginning is there twice"
                                                : "its beginning is missing");
    }
    return kind == PartKind::kClosing ? UseClosing(part.plain, visit) : records_.Use(part, visit);
  }

  Expected<void> UseClosing(std::string_view plain, const SnapshotVisitor& visit) {
    SnapshotClosing closing;
    if (!Decode(ByteReader(plain), closing)) return parts_.Broken(snapshot_format::kDamagedRecord);
    if (!records_.Fit(closing)) return parts_.Broken("blocks are missing");
    is_closed_ = true;
    if (visit.closing) visit.closing(std::move(closing));
    return {};
  }

  PartReader parts_;
  snapshot_format::RecordChecks records_{parts_};
  bool has_begun_ = false;
  bool is_closed_ = false;
};

SnapshotReader::SnapshotReader(std::istream& in, const std::string& name)
    : checks_(std::make_unique<Checks>(in, name)) {}
SnapshotReader::~SnapshotReader() = default;
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;

Expected<SnapshotReader> SnapshotReader::OpenFromBundle(
    const std::filesystem::path& path,
    const std::pair<std::filesystem::path, std::string>& inside) {
  LEAKGATE_TRY_ASSIGN(std::unique_ptr<std::istream> stream,
                      OpenInBundle(inside.first, inside.second));
  SnapshotReader reader(*stream, PathText(path));
  reader.file_ = std::move(stream);
  return reader;
}

Expected<SnapshotReader> SnapshotReader::Open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return UsageError(fmt::format("{}: a directory; name a snapshot file in it", PathText(path)));
  }
  if (const auto inside = SplitBundlePath(path)) return OpenFromBundle(path, *inside);
  if (IsBundle(path)) {
    LEAKGATE_TRY_ASSIGN(const std::vector<std::string> names, SnapshotsIn(path));
    if (names.size() == 1) return OpenFromBundle(path, {path, names.front()});
    return UsageError(
        fmt::format("{0}: a bundle of {1} snapshots; name one, as leakgate snapshot show {0} does",
                    PathText(path), names.size()));
  }
  auto file = OpenRegularFile(path);
  if (!file) {
    return UsageError(fmt::format("{}: cannot be read: {}; name a snapshot file", PathText(path),
                                  file.error().message()));
  }
  std::unique_ptr<std::istream> stream = MakeInputStream(*std::move(file));
  SnapshotReader reader(*stream, PathText(path));
  reader.file_ = std::move(stream);
  return reader;
}

Expected<bool> SnapshotReader::ReadPart(const SnapshotVisitor& visitor) {
  return checks_->ReadPart(visitor);
}

namespace {

Expected<void> ReadAll(SnapshotReader& reader, const SnapshotVisitor& visitor) {
  while (true) {
    LEAKGATE_TRY_ASSIGN(const bool read, reader.ReadPart(visitor));
    if (!read) return {};
  }
}

}  // namespace

Expected<void> ReadSnapshot(std::istream& in, const std::string& name,
                            const SnapshotVisitor& visitor) {
  SnapshotReader reader(in, name);
  return ReadAll(reader, visitor);
}

Expected<void> ReadSnapshot(const std::filesystem::path& path, const SnapshotVisitor& visitor) {
  LEAKGATE_TRY_ASSIGN(SnapshotReader reader, SnapshotReader::Open(path));
  return ReadAll(reader, visitor);
}

}  // namespace leakgate
