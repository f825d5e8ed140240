// Where the files of modules may be besides where they were mapped: directories of binaries
// and debug files, which are told by their build-ids, whatever they are called.
//
//   DIR/.build-id/ab/cdef0123.debug    as debuggers have it, also without .debug
//   DIR/anything/net_test              any file of that build-id
//
// One thread at a time. The files are not trusted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace leakgate {

// Paths; empty: there is none.
struct FoundSymbolFiles {
  std::string binary;  // the file itself
  std::string debug;   // its debug information alone
};

class SymbolFiles {
 public:
  explicit SymbolFiles(std::vector<std::filesystem::path> directories = {})
      : directories_(std::move(directories)) {}

  // `build_id`: as Module has it, not empty.
  [[nodiscard]] FoundSymbolFiles Find(const std::string& build_id);

 private:
  void ReadDirectories();
  void AddFile(const std::filesystem::path& path);

  std::vector<std::filesystem::path> directories_;
  bool are_read_ = false;
  std::map<std::string, FoundSymbolFiles> by_build_id_;
};

// The file of that build-id from a debuginfod server, or, where it has none, its debug
// information alone: paths in the local cache. None if DEBUGINFOD_URLS names no server: then
// the network is not used.
[[nodiscard]] FoundSymbolFiles Download(const std::string& build_id);

}  // namespace leakgate
