// Where the files are that the compiler was given by relative names, as Meson gives
// them: the names say nothing without the directory of the build, which debug
// information tells. Used before a program starts, for GoogleTest tells such names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace leakgate {

class CompiledFiles {
 public:
  // Of a program's file. None are known of one without debug information.
  explicit CompiledFiles(const std::filesystem::path& program);

  // The file that was compiled by this name; nothing if that is not known, if several
  // were, or if it is not there (any more, or on this machine).
  [[nodiscard]] std::optional<std::string> Find(const std::string& name) const;

 private:
  std::map<std::string, std::string> by_name_;  // relative ones; empty: several
};

// What a program's file lets reports and stacks say: whether calls can be told by
// function and by line, and whether stacks can be walked. Used by `leakgate doctor`.

struct DebugFacts {
  bool has_symbols = false;       // of all functions, not only of what is exported
  bool has_lines = false;         // which source line is at which address
  bool has_unwind_table = false;  // the sorted table of .eh_frame, which the agent searches
  std::string separate_file{};    // where debug information was found; empty: in the file itself
  std::string debug_link{};       // the separate file that the file asks for; empty: none
};

// Looks for separate debug files as reports do. All is false of what is no ELF file.
[[nodiscard]] DebugFacts ReadDebugFacts(const std::filesystem::path& file);

}  // namespace leakgate
