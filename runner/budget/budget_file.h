// A parsed budget file: the limits that it sets for a component, each with its line. read_budget.h
// reads these values, and budget_set.h works out which of them apply.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/word_table.h"
#include "runner/budget/named_allocator.h"

namespace leakgate {

struct Limit {
  std::int64_t value = 0;
  int line = 0;
  int column = 0;

  friend bool operator==(const Limit&, const Limit&) = default;
};

// In these structs, a member without a value sets no limit.
struct AmountLimits {
  std::optional<Limit> bytes;
  std::optional<Limit> blocks;
};

struct WindowLimits {
  AmountLimits outstanding;
  AmountLimits lost;      // outstanding blocks to which nothing leads any more
  AmountLimits retained;  // outstanding blocks to which something still leads
  AmountLimits growth;
  AmountLimits allocated;                 // all blocks, freed or not
  AmountLimits temporary;                 // of these: freed before their thread allocates again
  AmountLimits mapped;                    // what is left mapped; its blocks are mappings
  std::optional<Limit> peak_bytes;        // the most live bytes of the process; "peak" in files
  std::optional<Limit> file_descriptors;  // how many are left open
  std::optional<Limit> threads;           // how many are left running
};

struct ScopedLimits {
  WindowLimits test;
  WindowLimits suite;
  WindowLimits program;
  WindowLimits process;  // for each child process that the file names

  [[nodiscard]] const WindowLimits& For(WindowKind kind) const {
    switch (kind) {
      case WindowKind::kTest:
        return test;
      case WindowKind::kSuite:
        return suite;
      case WindowKind::kProcess:
        return process;
      case WindowKind::kProgram:
        break;
    }
    return program;
  }
};

// The end by which a test must have freed what it allocates: its own, its suite's, or the
// program's. Its outstanding blocks are judged then.
enum class FreeBy { kTest, kSuite, kProgram };
template <>
struct WordTable<FreeBy> {
  static constexpr std::array kWords = {Named{FreeBy::kTest, "test"},
                                        Named{FreeBy::kSuite, "suite"},
                                        Named{FreeBy::kProgram, "program"}};
};

// When a test that retains blocks is repeated to see whether it grows.
enum class Confirm { kAfter, kInline, kOff };
template <>
struct WordTable<Confirm> {
  static constexpr std::array kWords = {Named{Confirm::kAfter, "after"},
                                        Named{Confirm::kInline, "inline"},
                                        Named{Confirm::kOff, "off"}};
};

// Which blocks a test is charged with: all of the process, or those of its own thread and of the
// threads that it has started.
enum class ThreadScope { kProcess, kTest };
template <>
struct WordTable<ThreadScope> {
  static constexpr std::array kWords = {Named{ThreadScope::kProcess, "process"},
                                        Named{ThreadScope::kTest, "test"}};
};

// Changes the limits of certain tests.
struct Override {
  std::vector<std::string> tests;  // GoogleTest filter patterns
  ScopedLimits limits;             // may set no limit
  std::optional<FreeBy> free_by;
  std::string reason;
  std::string owner;                                   // may be empty
  std::string issue;                                   // may be empty
  std::optional<std::chrono::year_month_day> expires;  // the last day on which it applies
  int line = 0;
};

// Permits blocks by their call stack.
struct Allowance {
  std::vector<std::string> stack;  // globs of functions; the innermost is first
  std::vector<std::string> tests;  // GoogleTest filter patterns; empty: every test
  std::optional<Limit> bytes;      // for each window; without a value there is no limit
  std::optional<Limit> blocks;     // likewise
  std::string reason;
  std::string owner;                                   // may be empty
  std::string issue;                                   // may be empty
  std::optional<std::chrono::year_month_day> expires;  // the last day on which it applies
  int line = 0;
};

// The code that a component owns. It owns a frame if any pattern matches that.
struct CodePatterns {
  std::vector<std::string> paths;      // globs of source files; a relative one matches at any depth
  std::vector<std::string> functions;  // globs of qualified names, without parameters
  std::vector<std::string> modules;    // globs of file names

  [[nodiscard]] bool empty() const { return paths.empty() && functions.empty() && modules.empty(); }
};

// The name of the component whose budget is for code that no other component owns.
inline constexpr const char* kUnowned = "unowned";

// Names child processes that tests start.
struct ProcessPattern {
  // Matches the file name of the process's executable file.
  std::string glob;
  int line = 0;

  friend bool operator==(const ProcessPattern&, const ProcessPattern&) = default;
};

struct BudgetFile {
  std::filesystem::path path;  // as the user gave it, for messages
  std::string component;
  std::string owner;  // may be empty
  // GoogleTest filter patterns. If there are none, the file covers every test; but a file with
  // `code` then covers no test.
  std::vector<std::string> tests;
  std::vector<std::string> binaries;  // globs of file names; empty: every binary
  CodePatterns code;
  std::vector<ProcessPattern> processes;
  std::vector<std::string> wrappers;       // patterns of functions that allocate for their callers
  std::vector<NamedAllocator> allocators;  // of the program's pools
  std::optional<FreeBy> free_by;
  std::optional<Confirm> confirm;
  std::optional<bool> contents;  // whether findings show what lost blocks begin with
  std::optional<ThreadScope> thread_scope;
  ScopedLimits limits;
  std::vector<Override> overrides;  // if several match, the last one wins
  std::vector<Allowance> allowances;
};

}  // namespace leakgate
