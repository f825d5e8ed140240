// The words that the JSON report uses for leakgate's enumerations. They are part of the
// format: docs/leakgate-report-2.schema.json lists the same ones.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "runner/base/word_table.h"
#include "runner/region/region_words.h"
#include "runner/result/run_result.h"

namespace leakgate {

// These are the words for verdicts of windows.
template <>
struct WordTable<Verdict> {
  static constexpr std::array kWords = {
      Named{Verdict::kInconclusive, "inconclusive"}, Named{Verdict::kPass, "pass"},
      Named{Verdict::kOverBudget, "over_budget"},    Named{Verdict::kNotGated, "not_gated"},
      Named{Verdict::kUnconfirmed, "unconfirmed"},
  };
};

template <>
struct WordTable<Disposition> {
  static constexpr std::array kWords = {
      Named{Disposition::kOutstanding, "outstanding"},
      Named{Disposition::kFramework, "framework"},
      Named{Disposition::kAllowed, "allowed"},
      Named{Disposition::kOtherThread, "other_thread"},
      Named{Disposition::kReplaced, "replaced"},
      Named{Disposition::kReleasedLater, "released_later"},
      Named{Disposition::kOneTime, "one_time"},
      Named{Disposition::kBounded, "bounded"},
      Named{Disposition::kSteady, "steady"},
      Named{Disposition::kUnconfirmed, "unconfirmed"},
      Named{Disposition::kKnown, "known"},
  };
};

template <>
struct WordTable<Reach> {
  static constexpr std::array kWords = {
      Named{Reach::kUnknown, "unknown"},
      Named{Reach::kLost, "lost"},
      Named{Reach::kIndirectlyLost, "indirectly_lost"},
      Named{Reach::kRetained, "retained"},
  };
};

template <>
struct WordTable<BaselineState> {
  static constexpr std::array kWords = {
      Named{BaselineState::kNew, "new"},
      Named{BaselineState::kKnown, "known"},
  };
};

template <>
struct WordTable<TestStatus> {
  static constexpr std::array kWords = {
      Named{TestStatus::kNotPassed, "not_passed"}, Named{TestStatus::kPassed, "passed"},
      Named{TestStatus::kFailed, "failed"},        Named{TestStatus::kSkipped, "skipped"},
      Named{TestStatus::kCrashed, "crashed"},
  };
};

template <>
struct WordTable<GateMode> {
  static constexpr std::array kWords = {
      Named{GateMode::kGate, "gate"},
      Named{GateMode::kStrict, "strict"},
      Named{GateMode::kWarnOnly, "warn_only"},
  };
};

// These are the words for verdicts of runs. A run that gated nothing proves nothing, so it has no
// word of its own.
inline constexpr std::array kRunVerdicts = {
    Named{Verdict::kInconclusive, "inconclusive"},
    Named{Verdict::kPass, "pass"},
    Named{Verdict::kOverBudget, "failed"},
    Named{Verdict::kUnconfirmed, "unconfirmed"},
};

[[nodiscard]] inline const char* RunWord(Verdict verdict) { return WordIn(kRunVerdicts, verdict); }
[[nodiscard]] inline std::optional<Verdict> FromRunWord(std::string_view word) {
  return ValueIn(kRunVerdicts, word);
}

}  // namespace leakgate
