#include "runner/snapshot/file/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "runner/archive/zip_archive.h"
#include "runner/base/file_access.h"
#include "runner/base/file_version.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostManifestBytes = 16U << 20;

Expected<std::shared_ptr<ZipArchive>> OpenArchive(const fs::path& bundle, const char* ending) {
  auto file = OpenRegularFile(bundle);
  if (!file) {
    return UsageError(fmt::format("{}: cannot be read: {}; name a snapshot file", PathText(bundle),
                                  file.error().message()));
  }
  const std::uint64_t bytes = VersionOf(*file).value_or(FileVersion{}).size;
  return ZipArchive::Open(bundle, *std::move(file), bytes, ending);
}

// Reads a file of an archive from its begin to its end.
class MemberBuffer : public std::streambuf {
 public:
  MemberBuffer(std::shared_ptr<ZipArchive> archive, std::string name)
      : archive_(std::move(archive)), name_(std::move(name)) {}

 protected:
  int_type underflow() override {
    const auto count = archive_->Read(name_, at_, bytes_.data(), bytes_.size());
    if (!count) throw std::ios_base::failure(count.error().message);  // the stream is bad() then
    if (*count == 0) return traits_type::eof();
    at_ += *count;
    setg(bytes_.data(), bytes_.data(), bytes_.data() + *count);
    return traits_type::to_int_type(bytes_[0]);
  }

 private:
  std::shared_ptr<ZipArchive> archive_;
  std::string name_;
  std::uint64_t at_ = 0;
  std::array<char, 65536> bytes_;
};

class MemberStream : public std::istream {
 public:
  MemberStream(std::shared_ptr<ZipArchive> archive, std::string name)
      : std::istream(nullptr), buffer_(std::move(archive), std::move(name)) {
    rdbuf(&buffer_);
  }

 private:
  MemberBuffer buffer_;
};

}  // namespace

bool IsBundle(const fs::path& path) {
  const auto file = OpenRegularFile(path);
  if (!file) return false;
  std::array<char, 4> begin{};
  if (ReadAt(*file, begin.data(), begin.size(), 0) != begin.size()) return false;
  const std::string_view text(begin.data(), begin.size());
  return text == "PK\3\4" || text == std::string_view("PK\5\6", 4);
}

std::optional<std::pair<fs::path, std::string>> SplitBundlePath(const fs::path& path) {
  std::error_code unknown;
  if (fs::exists(path, unknown)) return std::nullopt;
  // With all of its slashes: the name of a snapshot may begin with one.
  const std::u8string units = path.u8string();
  std::string text(units.begin(), units.end());
  if (kFoldsNames) std::replace(text.begin(), text.end(), '\\', '/');
  for (std::size_t at = text.find('/', 1); at != std::string::npos; at = text.find('/', at + 1)) {
    const fs::path bundle = PathOf(text.substr(0, at));
    if (fs::is_directory(bundle, unknown)) continue;
    if (!IsBundle(bundle)) return std::nullopt;
    return std::pair{bundle, text.substr(at + 1)};
  }
  return std::nullopt;
}

fs::path PathInBundle(const fs::path& bundle, const std::string& name) {
  return InArchive(bundle, name);
}

Expected<std::vector<std::string>> SnapshotsIn(const fs::path& bundle) {
  LEAKGATE_TRY_ASSIGN(const auto archive, OpenArchive(bundle, ".snapshot"));
  std::vector<std::string> names;
  for (const auto& [name, member] : archive->reports()) names.push_back(name);
  if (!names.empty()) return names;
  return UsageError(fmt::format(
      "{}: no snapshot is in this archive; name one that leakgate snapshot bundle has written",
      PathText(bundle)));
}

Expected<std::string> ManifestOf(const fs::path& bundle) {
  LEAKGATE_TRY_ASSIGN(const auto archive, OpenArchive(bundle, kManifestName));
  const auto found = archive->reports().find(kManifestName);
  if (found == archive->reports().end()) return "";
  std::string text;
  std::vector<char> bytes(65536);
  while (text.size() <= kMostManifestBytes) {
    LEAKGATE_TRY_ASSIGN(const auto count,
                        archive->Read(kManifestName, text.size(), bytes.data(), bytes.size()));
    if (count == 0) return text;
    text.append(bytes.data(), count);
  }
  return TooMuchInArchive(
      bundle, fmt::format("has more than {} MiB in {}", kMostManifestBytes >> 20, kManifestName));
}

Expected<std::unique_ptr<std::istream>> OpenInBundle(const fs::path& bundle,
                                                     const std::string& name) {
  LEAKGATE_TRY_ASSIGN(const auto archive, OpenArchive(bundle, ".snapshot"));
  if (!archive->reports().contains(name)) {
    return UsageError(
        fmt::format("{}: no such snapshot in this bundle; leakgate snapshot show {} "
                    "names those that there are",
                    PathText(InArchive(bundle, name)), PathText(bundle)));
  }
  return std::make_unique<MemberStream>(archive, name);
}

}  // namespace leakgate
