// The facts about an ELF executable that decide whether it can be traced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/process/test_framework.h"

namespace leakgate {

struct ElfFacts {
  bool is_elf = false;
  bool is_of_this_processor = false;
  std::string architecture;      // the other processor, for messages
  std::string interpreter;       // the dynamic linker; empty: statically linked
  std::string sanitizer;         // "AddressSanitizer"; empty: none
  std::string sanitizer_option;  // "address"
  bool defines_malloc = false;
  std::vector<std::string> needed;  // the names of the shared libraries that the file needs
  bool needs_google_test = false;   // one of them is libgtest
  // The file's table of imports lacks a function by which GoogleTest streams its events. False if
  // there is no such table, as in a file without section headers.
  bool lacks_stream_call = false;
  // A function by which GoogleTest would stream its events, and which the file defines instead of
  // the C library, as a test of network code does; empty if there is none.
  std::string exported_stream_call;  // other modules call it, too
  std::string defined_stream_call;   // the file itself calls it, by its name or by --wrap
};

// Reads the facts with libelf. A damaged file yields those that could be read.
[[nodiscard]] ElfFacts ReadElfFacts(const UniqueFd& file);

// Inspects a program's file before the program runs: whether the agent can trace it, and which test
// framework it contains.

struct ImageInspection {
  // One line that says why a program started from the file cannot be traced, and what to do.
  std::optional<std::string> refusal;
  // The same for a process that already runs. Then the rights of its file, and whether the dynamic
  // linker was started as a program, do not matter.
  std::optional<std::string> refusal_of_running;
  LinkedFramework linked;
  // One line that says why GoogleTest's stream of events cannot show where tests begin without
  // changing what the program does. The listener needs no stream.
  std::optional<std::string> stream_problem;
  bool is_of_other_processor = false;
  bool has_own_allocator = false;  // in the executable
};

// Whether `image` has the name of a dynamic linker, which can be started to run another program
// (ld.so ./binary).
[[nodiscard]] bool IsDynamicLinker(const std::filesystem::path& image);

// Fails if the file cannot be read. REQUIRES: `image` is what the kernel executes, not a script.
[[nodiscard]] Expected<ImageInspection> InspectImage(const std::filesystem::path& image);

}  // namespace leakgate
