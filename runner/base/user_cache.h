// The user's own cache: $XDG_CACHE_HOME/leakgate, or ~/.cache/leakgate. Only the user can read what
// is made there, and nothing is used that others may have written. All of it can be removed at any
// time. Nothing here fails: without a cache, all is found out anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "runner/base/descriptors.h"

namespace leakgate {

// Returns the cache's folder, which need not exist; empty if the user has none.
[[nodiscard]] std::filesystem::path UserCacheFolder();

// Returns true if the file is the user's, and nobody else may write to it.
[[nodiscard]] bool IsOfUserAlone(const UniqueFd& file);
// The same of a folder that is no link.
[[nodiscard]] bool IsFolderOfUserAlone(const std::filesystem::path& path);

// Makes `folder` and up to two above it, where nobody can put another in their place. Returns
// whether the folder is there and IsFolderOfUserAlone.
[[nodiscard]] bool MakeCacheFolder(const std::filesystem::path& folder);

struct CacheLimit {
  std::size_t files = SIZE_MAX;
  std::uint64_t bytes = UINT64_MAX;  // of all files together
};

// Removes the oldest files of `folder`, but none in folders below it, until the others are well
// within the limit.
void LimitCacheFolder(const std::filesystem::path& folder, const CacheLimit& limit);

}  // namespace leakgate
