// Finds the files with the symbols of modules: separate debug files, and files that are no longer
// where the module was mapped.
//
// elfutils opens whatever has the name of a debug file: it would wait for a FIFO, or read a device
// for ever. So leakgate searches for debug files itself, in the same places as elfutils, and opens
// regular files only.
//
// Used by one thread at a time. The files are not trusted.
#pragma once

#include <elfutils/libdwfl.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leakgate {

// The paths of files of one build-id; a path is empty if there is no such file.
struct FoundSymbolFiles {
  std::string binary;
  std::string debug;  // has debug information alone
};

// Finds files in directories by their build-ids, whatever their names are:
//
//   DIR/.build-id/ab/cdef0123.debug    as debuggers name it, also without .debug
//   DIR/anything/net_test              any file of that build-id
class SymbolFiles {
 public:
  explicit SymbolFiles(std::vector<std::filesystem::path> directories = {})
      : directories_(std::move(directories)) {}

  // The first call reads all directories. REQUIRES: `build_id` is as in Module, and not empty.
  [[nodiscard]] FoundSymbolFiles Find(const std::string& build_id);

 private:
  void ReadDirectories();
  void AddFile(const std::filesystem::path& path);

  std::vector<std::filesystem::path> directories_;
  bool are_read_ = false;
  std::map<std::string, FoundSymbolFiles> by_build_id_;
};

// Fetches the file of that build-id from a debuginfod server, or, if no server has it, its debug
// information alone. Returns paths in the local cache. If DEBUGINFOD_URLS names no server, the
// network is not used, and both paths are empty.
[[nodiscard]] FoundSymbolFiles DownloadSymbolFiles(const std::string& build_id);

// Finds the file that holds the debug information of another one, which names it by
// .gnu_debuglink, by dwz's .gnu_debugaltlink, or only by its build-id. This replaces
// dwfl_standard_find_debuginfo as a callback of elfutils: it returns an open descriptor and sets
// `found` to the file's name, or returns -1 if there is no such file.
int FindSeparateFile(Dwfl_Module* module, void** userdata, const char* name, GElf_Addr base,
                     const char* file, const char* link, GElf_Word checksum, char** found);

// Returns whether elfutils may search for the files of this build-id: below /usr/lib/debug only
// regular files may have the names that it would open.
[[nodiscard]] bool MayLookUpBuildId(const std::string& build_id);

}  // namespace leakgate
