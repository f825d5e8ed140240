#include "runner/snapshot/view/make_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/report/json/json_text.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/view/look_up_symbols.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostSnapshotBytes = 0xffff'fffe;  // of one in a bundle

Expected<std::vector<fs::path>> ListSnapshotFiles(const std::vector<fs::path>& given) {
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".snapshot") inside.push_back(entry->path());
    }
    if (error) {
      return UsageError(
          fmt::format("{}: cannot read the directory: {}", PathText(path), error.message()));
    }
    if (inside.empty()) {
      return UsageError(
          fmt::format("{}: there is no *.snapshot in this directory", PathText(path)));
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace

BundleMaker::BundleMaker(BundledSymbols symbols, NewSymbolizer new_symbolizer, BundleWriter bundle)
    : symbols_(symbols),
      new_symbolizer_(std::move(new_symbolizer)),
      bundle_(std::move(bundle)),
      snapshots_(std::make_unique<Json>(Json::array())) {}

BundleMaker::~BundleMaker() = default;
BundleMaker::BundleMaker(BundleMaker&&) noexcept = default;
BundleMaker& BundleMaker::operator=(BundleMaker&&) noexcept = default;

Expected<BundleMaker> BundleMaker::Create(BundledSymbols symbols, NewSymbolizer new_symbolizer) {
  LEAKGATE_TRY_ASSIGN(BundleWriter bundle, BundleWriter::Create());
  return BundleMaker(symbols, std::move(new_symbolizer), std::move(bundle));
}

std::string BundleMaker::TakeName(const std::string& wanted) {
  const fs::path path(wanted);
  std::string name = wanted;
  for (int i = 2; !names_.insert(name).second; ++i) {
    name = fmt::format("{}-{}{}", PathText(path.stem()), i, PathText(path.extension()));
  }
  return name;
}

Expected<void> BundleMaker::AddFiles(const std::vector<fs::path>& given) {
  LEAKGATE_TRY_ASSIGN(const std::vector<fs::path> files, ListSnapshotFiles(given));
  for (const fs::path& file : files) {
    auto bytes = ReadRegularFile(file, kMostSnapshotBytes);
    if (!bytes) {
      return UsageError(fmt::format("{}: cannot be read: {}; name a snapshot file", PathText(file),
                                    bytes.error().message()));
    }
    LEAKGATE_TRY(
        Add({PathText(file), TakeName(PathText(file.stem()) + ".snapshot"), *std::move(bytes)}));
  }
  return {};
}

Expected<void> BundleMaker::Add(const std::string& wanted_name, std::string bytes) {
  const std::string name = TakeName(wanted_name);
  return Add({name, name, std::move(bytes)});
}

// Reads the snapshot as a whole, so that none that is damaged gets into a bundle.
Expected<void> BundleMaker::Add(Content content) {
  LEAKGATE_TRY_ASSIGN(Symbolizer for_view, new_symbolizer_());
  SnapshotView view(SnapshotQuery{}, std::move(for_view));
  const auto source = [&content](const SnapshotVisitor& visitor) {
    std::istringstream in(content.bytes);
    return ReadSnapshot(in, content.origin, visitor);
  };
  LEAKGATE_TRY(view.Read(source, content.origin));
  if (symbols_ == BundledSymbols::kIncluded) {
    LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, new_symbolizer_());
    LEAKGATE_TRY_ASSIGN(std::string bytes, WithSymbols(content.bytes, content.origin,
                                                       LookUpSymbols(view.contents(), symbolizer)));
    content.bytes = std::move(bytes);
  }
  LEAKGATE_TRY(bundle_.Add(content.name, content.bytes, BundleWriter::Packing::kAsItIs));
  Json entry = SnapshotFactsJson(view);
  entry["file"] = content.name;
  snapshots_->push_back(std::move(entry));
  return {};
}

Expected<std::size_t> BundleMaker::Finish(const fs::path& path, Json session) {
  const std::size_t count = snapshots_->size();
  if (count == 0) {
    return UsageError("there is no snapshot to bundle: no process of the session has one");
  }
  const Json manifest = {{"schema", "leakgate-bundle-1"},
                         {"symbols", symbols_ == BundledSymbols::kIncluded},
                         {"snapshots", std::move(*snapshots_)},
                         {"session", std::move(session)}};
  const std::string text = IndentedJson(manifest) + '\n';
  LEAKGATE_TRY(bundle_.Add(kManifestName, text, BundleWriter::Packing::kPacked));
  LEAKGATE_TRY(bundle_.Finish(path));
  return count;
}

}  // namespace leakgate
