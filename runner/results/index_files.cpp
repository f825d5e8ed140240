#include "runner/results/index_files.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <system_error>

#include "runner/base/file_access.h"
#include "runner/base/path_text.h"
#include "runner/base/user_cache.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostIndexes = 64;

fs::path IndexFolder() {
  fs::path cache = UserCacheFolder();
  return cache.empty() ? cache : cache / "baselines";
}

}  // namespace

fs::path IndexPathOf(const fs::path& report) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(report, error);
  if (error) return {};
  const fs::path folder = IndexFolder();
  if (folder.empty()) return {};
  const XXH128_hash_t hash =
      XXH3_128bits(full.c_str(), full.native().size() * sizeof(fs::path::value_type));
  return folder /
         fmt::format("{:016x}{:016x}.index", std::uint64_t{hash.high64}, std::uint64_t{hash.low64});
}

std::optional<BaselineIndex> OpenIndex(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  UniqueFd opened = CacheFolder::Open(path.parent_path()).OpenFile(PathText(path.filename()));
  if (!opened) return std::nullopt;
  const auto file = std::make_shared<const UniqueFd>(std::move(opened));
  return BaselineIndex::Open([file](std::uint64_t offset, char* to, std::size_t size) {
    return ReadAt(*file, to, size, offset) == size;
  });
}

void KeepIndex(const fs::path& path, const std::string& text) {
  if (path.empty()) return;
  const CacheFolder folder = CacheFolder::Make(path.parent_path());
  if (folder.Write(PathText(path.filename()), text)) folder.Limit({.files = kMostIndexes});
}

void RenewIndex(const fs::path& path, const IndexedReport& report) {
  constexpr std::uint64_t kMostBytes = 1 << 28;
  std::string index =
      CacheFolder::Open(path.parent_path()).Read(PathText(path.filename()), kMostBytes);
  const std::string renewed = WithReport(std::move(index), report);
  if (!renewed.empty()) KeepIndex(path, renewed);
}

}  // namespace leakgate
