// What a program's file lets reports and stacks say: whether calls can be told by
// function and by line, and whether stacks can be walked. Used by `leakgate doctor`.
#pragma once

#include <filesystem>
#include <string>

namespace leakgate {

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
