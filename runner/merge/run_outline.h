// What a run report says, as far as merging asks: its verdicts, not its stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/merge/json_scanner.h"
#include "runner/report/run_result.h"

namespace leakgate {

struct WindowOutline {
  WindowKind kind = WindowKind::kTest;
  std::string name;
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;
  std::string component;
  Amount outstanding;
  Amount lost;
  Amount retained;
  Amount growth;
  Amount allocated;
  Amount mapped;  // blocks: mappings
  std::vector<Violation> violations;
  std::int64_t free_errors = 0;  // without those of the baseline
};

struct RunOutline {
  std::string binary;
  std::vector<std::string> arguments;
  Verdict verdict = Verdict::kInconclusive;
  int exit_code = 0;
  ProgramExit program;
  GateMode mode = GateMode::kGate;
  std::optional<Shard> shard;
  std::vector<std::string> reasons;
  std::vector<std::string> failures;
  std::vector<WindowOutline> windows;
  Digest content;  // two reports with the same one say the same
};

// Reads the run report that begins next. False: the scanner has the problem.
[[nodiscard]] bool ReadRun(JsonScanner& scanner, RunOutline& run);

// A run has at most so many windows, violations, and other things that an outline keeps. A
// window has at most so many violations, each of which is set against its findings, and so many
// freeing errors, of which the agent records no more.
inline constexpr std::size_t kMostRecords = 1'000'000;
inline constexpr std::size_t kMostViolations = 1024;
inline constexpr std::size_t kMostFreeErrors = 4096;

// The version of run reports that this leakgate reads, and of merged ones.
inline constexpr std::string_view kRunSchema = "leakgate-report-2";
inline constexpr std::string_view kMergedSchema = "leakgate-merged-1";

}  // namespace leakgate
