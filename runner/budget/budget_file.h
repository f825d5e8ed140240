// One budget file, parsed: the limits that it sets for a component, each with
// the line it stands on. Plain values: read_budget.h reads them, budget_set.h says how they apply.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"

namespace leakgate {

// A limit on one number, and where it stands.
struct Limit {
  std::int64_t value = 0;
  int line = 0;
  int column = 0;

  friend bool operator==(const Limit&, const Limit&) = default;
};

// A missing member sets no limit.
struct AmountLimits {
  std::optional<Limit> bytes;
  std::optional<Limit> blocks;
};

struct WindowLimits {
  AmountLimits outstanding;
  AmountLimits lost;      // of outstanding: what nothing leads to any more
  AmountLimits retained;  // of outstanding: what something still leads to
  AmountLimits growth;
  AmountLimits allocated;                 // freed or not
  AmountLimits mapped;                    // left mapped; blocks: mappings
  std::optional<Limit> peak_bytes;        // "peak": live bytes of the process
  std::optional<Limit> file_descriptors;  // left open
  std::optional<Limit> threads;           // left running
};

struct ScopedLimits {
  WindowLimits test;
  WindowLimits suite;
  WindowLimits program;
  WindowLimits process;  // of each child process that the file names

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

// Until when what a test allocates may be freed: its own end, its suite's, or
// the program's. Its outstanding blocks are judged then.
enum class FreeBy { kTest, kSuite, kProgram };

// When a retained block's test is repeated to see whether it grows.
enum class Confirm { kAfter, kInline, kOff };

// Whose blocks a test is charged with: its own thread's and those of threads
// that it has started, or all of the process.
enum class ThreadScope { kProcess, kTest };

struct Override {
  std::vector<std::string> tests;  // GoogleTest filter patterns
  ScopedLimits limits;             // may set none
  std::optional<FreeBy> free_by;
  std::string reason;
  std::string owner;  // may be empty, like the next
  std::string issue;
  std::optional<std::chrono::year_month_day> expires;  // the last day on which it holds
  int line = 0;
};

// Permits blocks by their call stack.
struct Allowance {
  std::vector<std::string> stack;  // globs of functions, from the innermost outwards
  std::vector<std::string> tests;  // GoogleTest filter patterns; empty: every test
  std::optional<Limit> bytes;      // of each window; neither: no limit
  std::optional<Limit> blocks;
  std::string reason;
  std::string owner;  // may be empty, like the next
  std::string issue;
  std::optional<std::chrono::year_month_day> expires;  // the last day on which it holds
  int line = 0;
};

// The code that a component owns; a frame is its own if any pattern matches.
struct CodePatterns {
  std::vector<std::string> paths;      // globs of source files; relative: at any depth
  std::vector<std::string> functions;  // globs of qualified names, without parameters
  std::vector<std::string> modules;    // globs of file names

  [[nodiscard]] bool empty() const { return paths.empty() && functions.empty() && modules.empty(); }
};

// The component whose budget is for code that no other one owns.
inline constexpr const char* kUnowned = "unowned";

// Child processes that tests start, by the file names of their images.
struct ProcessPattern {
  std::string glob;
  int line = 0;

  friend bool operator==(const ProcessPattern&, const ProcessPattern&) = default;
};

struct BudgetFile {
  std::filesystem::path path;  // as given, for messages
  std::string component;
  std::string owner;                  // may be empty
  std::vector<std::string> tests;     // GoogleTest filter patterns; empty: every test, or, with
                                      // `code`, none
  std::vector<std::string> binaries;  // glob patterns of file names; empty: every binary
  CodePatterns code;
  std::vector<ProcessPattern> processes;
  std::optional<FreeBy> free_by;
  std::optional<Confirm> confirm;
  std::optional<ThreadScope> thread_scope;
  ScopedLimits limits;
  std::vector<Override> overrides;  // where several match, the later one wins
  std::vector<Allowance> allowances;
};

}  // namespace leakgate
