// The user's own cache: $XDG_CACHE_HOME/leakgate, or ~/.cache/leakgate. Only the user can read what
// is created there, and nothing is used that another user may have written. All of it can be
// removed at any time. Nothing here fails: without a cache, everything is computed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "runner/base/descriptors.h"

namespace leakgate {

// Returns the cache's folder, which need not exist; empty if the user has none.
[[nodiscard]] std::filesystem::path UserCacheFolder();

struct CacheLimit {
  std::size_t files = SIZE_MAX;
  std::uint64_t bytes = UINT64_MAX;  // of all files together
};

// A folder of the cache that is held open (OpenOwnFolder of file_place.h). All is done in that very
// folder, so it does not matter if somebody exchanges a part of its path. If root runs leakgate
// with another user's HOME, no such folder is found.
class CacheFolder {
 public:
  // An object without a folder: nothing is found in it, and nothing is kept.
  CacheFolder() = default;
  // Opens the folder if it exists and belongs to the user alone.
  [[nodiscard]] static CacheFolder Open(const std::filesystem::path& path);
  // Makes it, and up to two above it, if they are missing.
  [[nodiscard]] static CacheFolder Make(const std::filesystem::path& path);

  explicit operator bool() const { return static_cast<bool>(folder_); }

  // Opens a regular file of the user's to which nobody else may write. Returns an empty descriptor
  // if there is no such file.
  [[nodiscard]] UniqueFd OpenFile(const std::string& name) const;
  // Returns nothing if there is no such file, or if it is larger.
  [[nodiscard]] std::string Read(const std::string& name, std::uint64_t most_bytes) const;
  // Puts a new file in the place of whatever has this name. Returns false on failure.
  bool Write(const std::string& name, std::string_view bytes) const;
  // Removes the oldest files, but none in folders below, until the others are well within the
  // limit.
  void Limit(const CacheLimit& limit) const;

 private:
  explicit CacheFolder(UniqueFd folder) : folder_(std::move(folder)) {}

  UniqueFd folder_;
};

}  // namespace leakgate
