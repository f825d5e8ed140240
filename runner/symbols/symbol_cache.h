// What earlier runs have found out about the addresses of files, so that debug information is read
// once for all tests of a CTest run, and not at all in the next one.
//
// A folder of the user's holds a file for each module: addresses with their frames or variables.
// Processes share it without locks. Each replaces a file as a whole, in one step; if two do so at
// once, what one of them has added is lost, and found out again later.
//
// The content counts only for the very file from which it was read (device, inode, size, times of
// change, build-id), for this build of leakgate, and if its checksum is right: anything else is
// dropped. Only what the file itself contains is kept, because separate debug information may come
// and go. The folder (base/user_cache.h) never grows beyond 64 MiB.
//
// Nothing here fails: without a cache, everything is read again. Used by one thread at a time.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runner/base/user_cache.h"
#include "runner/symbols/kept_symbols.h"

namespace leakgate {

// Where a module's debug information may come from.
enum class DebugSource {
  kAnyFile,  // the module's own file, or a separate debug file
  kOwnFile,  // the module's own file alone
};

class SymbolCache {
 public:
  // Keeps nothing.
  SymbolCache() = default;
  // Makes `folder` if it is missing.
  explicit SymbolCache(const std::filesystem::path& folder);

  // Returns what is kept of the file at `path`; null if nothing can be. The build-id is that of the
  // module that was mapped; empty where that does not matter.
  [[nodiscard]] KeptSymbols* For(const std::string& path, DebugSource source,
                                 const std::string& build_id);

  // Writes what is new. Called once the verdict is known.
  void Save();

 private:
  CacheFolder folder_;                        // none: nothing is kept
  std::map<std::string, KeptSymbols> files_;  // by identity
};

}  // namespace leakgate
