// What the debug information of a program's file says about the program as a whole.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace leakgate {

// Finds source files that the compiler was given by relative names, as Meson does. GoogleTest
// reports such names, which mean nothing without the build directory. Used before a program starts.
class CompiledFiles {
 public:
  // Reads the debug information of a program's file. No source file is found if there is none.
  explicit CompiledFiles(const std::filesystem::path& program);

  // Returns the path of the file that was compiled by this name; nullopt if no file was, if
  // several were, or if the file is not there.
  [[nodiscard]] std::optional<std::string> Find(const std::string& name) const;

 private:
  std::map<std::string, std::string> by_name_;  // the path is empty if several files have a name
};

// Shows how much reports can say about a program: whether stacks can be walked, and whether calls
// have functions and lines. Used by `leakgate doctor`.
struct DebugFacts {
  bool has_symbols = false;       // of all functions, not only of exported ones
  bool has_lines = false;         // a source line for each address
  bool has_unwind_table = false;  // the sorted table of .eh_frame, which the agent searches
  // The file with the debug information; empty if it is in the file itself.
  std::string separate_file{};
  // The separate file's name as it stands in the file; empty if there is none.
  std::string debug_link{};
};

// Looks for separate debug files as reports do. If `file` is no ELF file, nothing is set.
[[nodiscard]] DebugFacts ReadDebugFacts(const std::filesystem::path& file);

// Returns the name and version of the library that reads debug information.
[[nodiscard]] std::string DebugLibraryVersion();

}  // namespace leakgate
