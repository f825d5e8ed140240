// Finds the files of modules elsewhere than where they were mapped: in directories of binaries
// and debug files, and on debuginfod servers. Files are told by their build-ids, whatever their
// names are:
//
//   DIR/.build-id/ab/cdef0123.debug    as debuggers name it, also without .debug
//   DIR/anything/net_test              any file of that build-id
//
// Used by one thread at a time. The files are not trusted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace leakgate {

// The paths of files of one build-id; a path is empty if there is no such file.
struct FoundSymbolFiles {
  std::string binary;
  std::string debug;  // has debug information alone
};

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

}  // namespace leakgate
