// The result of one `leakgate run`: the value that every report is written from.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/result/window_result.h"

namespace leakgate {

struct ProgramExit {
  std::optional<int> exit_code;  // one of the two is set
  std::optional<int> signal;

  // Returns the exit code as a shell does: 128 + n for signal n.
  int ShellCode() const { return signal ? 128 + *signal : exit_code.value_or(0); }

  // The exception that ended a process on Windows, which is its exit code: an error of NTSTATUS,
  // such as 0xC0000005. Nothing if there was none; codes of Linux have one byte.
  std::optional<std::uint32_t> Exception() const {
    constexpr std::uint32_t kError = 0xC000'0000;
    constexpr std::uint32_t kOfPrograms = 0xF000'0000;  // exit(-1) and the like
    const auto code = static_cast<std::uint32_t>(exit_code.value_or(0));
    return code >= kError && code < kOfPrograms ? std::optional(code) : std::nullopt;
  }
  bool WasKilled() const { return signal || Exception(); }

  friend bool operator==(const ProgramExit&, const ProgramExit&) = default;
};

struct TracingResult {
  BoundarySource boundaries = BoundarySource::kNone;
  int generations = 1;  // how often the PID was traced, again after each exec
  std::map<std::string, std::uint64_t> drops;       // by reason; only what is not 0
  std::map<std::string, std::uint64_t> stack_ends;  // distinct stacks that are cut, by reason
  // How stacks were found: a known one was proved to be unchanged, or the stack was walked.
  std::uint64_t stacks_proved = 0;
  std::uint64_t stacks_walked = 0;
  std::uint64_t stacks_unprovable = 0;  // of the walked ones; no proof is possible for them
  std::uint64_t frames_walked = 0;
  std::uint64_t frames_without_rule = 0;  // of frames_walked; their unwind rule was not cached
  Amount mapped;                          // all that was ever mapped, as bytes and calls

  friend bool operator==(const TracingResult&, const TracingResult&) = default;
};

// How a verdict affects the exit code.
enum class GateMode {
  kGate,
  kStrict,    // unconfirmed tests and unused budget entries fail as well
  kWarnOnly,  // nothing fails; each run says so
};

// The part of the tests that the process runs, by GTEST_TOTAL_SHARDS.
struct Shard {
  int index = 0;  // from 0
  int total = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

struct RunResult {
  std::string binary;
  std::vector<std::string> arguments;
  Verdict verdict = Verdict::kPass;
  GateMode mode = GateMode::kGate;
  std::optional<Shard> shard;
  std::string baseline;               // the report whose findings do not fail; empty: none
  std::vector<std::string> reasons;   // why inconclusive, one line each; empty otherwise
  std::vector<std::string> failures;  // expired entries of budget files, a line each
  std::vector<std::string> warnings;  // entries that nothing used, a line each
  int exit_code = 0;                  // the runner's
  ProgramExit program;
  TracingResult tracing;
  std::vector<WindowResult> windows;  // in the order in which they were opened
  std::chrono::nanoseconds begin{};   // by the steady clock, as the windows'
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds
      gating{};  // of `wall`: spent judging while the program waited, and after
  std::chrono::nanoseconds confirming{};  // of `wall`: repeating tests

  friend bool operator==(const RunResult&, const RunResult&) = default;
};

}  // namespace leakgate
