#include "runner/symbols/symbol_cache.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <optional>

#include "runner/base/file_version.h"
#include "runner/base/path_text.h"
#include "runner/symbols/own_build.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// A large program has some thousands of call sites, with a hundred bytes each.
constexpr std::uint64_t kMostFileBytes = 8ULL << 20;
constexpr std::uint64_t kMostFolderBytes = 64ULL << 20;

// Returns the name of the cache's file for what is known of `identity`.
std::string FileNameOf(const std::string& identity) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(identity.data(), identity.size()));
  return fmt::format("{:02x}", fmt::join(hash.digest, ""));
}

}  // namespace

SymbolCache::SymbolCache(const fs::path& folder) {
  if (!folder.empty()) folder_ = CacheFolder::Make(folder);
}

KeptSymbols* SymbolCache::For(const std::string& path, DebugSource source,
                              const std::string& build_id) {
  const std::filesystem::path file = PathOf(path);
  if (!folder_ || !file.is_absolute()) return nullptr;
  static const std::string own_build = OwnBuild();
  const std::optional<FileVersion> version = VersionOf(file);
  if (own_build.empty() || !version) return nullptr;
  const std::string identity =
      fmt::format("{} {} {} {} {} {} {} {} {}", own_build, path, version->device, version->inode,
                  version->size, version->modified_ns, version->changed_ns,
                  source == DebugSource::kOwnFile ? "own" : "any", build_id);
  auto known = files_.find(identity);
  if (known == files_.end()) {
    known =
        files_.try_emplace(identity, folder_.Read(FileNameOf(identity), kMostFileBytes), identity)
            .first;
  }
  return &known->second;
}

void SymbolCache::Save() {
  bool has_written = false;
  for (const auto& [identity, symbols] : files_) {
    if (!symbols.HasNew()) continue;
    const std::string name = FileNameOf(identity);
    const std::string bytes = symbols.Write(folder_.Read(name, kMostFileBytes), kMostFileBytes);
    if (!bytes.empty() && folder_.Write(name, bytes)) has_written = true;
  }
  if (has_written) folder_.Limit({.bytes = kMostFolderBytes});
}

}  // namespace leakgate
