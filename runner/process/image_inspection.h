// The facts about an ELF executable that decide whether it can be traced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct ElfFacts {
  bool is_elf = false;
  bool is_of_this_processor = false;
  std::string architecture;      // the other processor, for messages
  std::string interpreter;       // the dynamic linker; empty: statically linked
  std::string sanitizer;         // "AddressSanitizer"; empty: none
  std::string sanitizer_option;  // "address"
  bool defines_malloc = false;
  bool needs_google_test = false;  // the file needs a shared libgtest
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

// Inspects a program's file before the program runs: whether the agent can trace it, and whether it
// is a GoogleTest binary.

// Decides how the agent learns where tests begin and end.
enum class TestFramework {
  kNone,                // the file contains no GoogleTest
  kGoogleTest,          // the file contains GoogleTest without leakgate's listener
  kGoogleTestListener,  // the file contains leakgate's listener, too
};

struct ImageInspection {
  // One line that says why a program started from the file cannot be traced, and what to do.
  std::optional<std::string> refusal;
  // The same for a process that already runs. Then the rights of its file, and whether the dynamic
  // linker was started as a program, do not matter.
  std::optional<std::string> refusal_of_running;
  TestFramework framework = TestFramework::kNone;
  // One line that says why GoogleTest's stream of events cannot show where tests begin without
  // changing what the program does. The listener needs no stream.
  std::optional<std::string> stream_problem;
  bool is_of_other_processor = false;
};

// Whether `image` has the name of a dynamic linker, which can be started to run another program
// (ld.so ./binary).
[[nodiscard]] bool IsDynamicLinker(const std::filesystem::path& image);

// Fails if the file cannot be read. REQUIRES: `image` is what the kernel executes, not a script.
[[nodiscard]] Expected<ImageInspection> InspectImage(const std::filesystem::path& image);

}  // namespace leakgate
