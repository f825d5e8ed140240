#include "runner/result/words.h"

#include <array>

#include "runner/base/word_table.h"

namespace leakgate {
namespace {

// Each table begins with the word for a value that no enumerator has.
constexpr std::array kVerdicts = {
    Named{Verdict::kInconclusive, "inconclusive"}, Named{Verdict::kPass, "pass"},
    Named{Verdict::kOverBudget, "over_budget"},    Named{Verdict::kNotGated, "not_gated"},
    Named{Verdict::kUnconfirmed, "unconfirmed"},
};
// A run that gated nothing has shown nothing, so it has no word of its own.
constexpr std::array kRunVerdicts = {
    Named{Verdict::kInconclusive, "inconclusive"},
    Named{Verdict::kPass, "pass"},
    Named{Verdict::kOverBudget, "failed"},
    Named{Verdict::kUnconfirmed, "unconfirmed"},
};
constexpr std::array kDispositions = {
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
constexpr std::array kReaches = {
    Named{Reach::kUnknown, "unknown"},
    Named{Reach::kLost, "lost"},
    Named{Reach::kIndirectlyLost, "indirectly_lost"},
    Named{Reach::kRetained, "retained"},
};
constexpr std::array kBaselineStates = {
    Named{BaselineState::kNew, "new"},
    Named{BaselineState::kKnown, "known"},
};
constexpr std::array kTestStatuses = {
    Named{TestStatus::kNotPassed, "not_passed"}, Named{TestStatus::kPassed, "passed"},
    Named{TestStatus::kFailed, "failed"},        Named{TestStatus::kSkipped, "skipped"},
    Named{TestStatus::kCrashed, "crashed"},
};
constexpr std::array kGateModes = {
    Named{GateMode::kGate, "gate"},
    Named{GateMode::kStrict, "strict"},
    Named{GateMode::kWarnOnly, "warn_only"},
};

}  // namespace

const char* Word(Verdict verdict) { return WordIn(kVerdicts, verdict); }
const char* Word(Disposition disposition) { return WordIn(kDispositions, disposition); }
const char* Word(Reach reach) { return WordIn(kReaches, reach); }
const char* Word(BaselineState state) { return WordIn(kBaselineStates, state); }
const char* Word(TestStatus status) { return WordIn(kTestStatuses, status); }
const char* Word(GateMode mode) { return WordIn(kGateModes, mode); }
const char* RunWord(Verdict verdict) { return WordIn(kRunVerdicts, verdict); }

template <>
std::optional<Verdict> FromWord(std::string_view word) {
  return ValueIn(kVerdicts, word);
}
template <>
std::optional<Disposition> FromWord(std::string_view word) {
  return ValueIn(kDispositions, word);
}
template <>
std::optional<Reach> FromWord(std::string_view word) {
  return ValueIn(kReaches, word);
}
template <>
std::optional<BaselineState> FromWord(std::string_view word) {
  return ValueIn(kBaselineStates, word);
}
template <>
std::optional<TestStatus> FromWord(std::string_view word) {
  return ValueIn(kTestStatuses, word);
}
template <>
std::optional<GateMode> FromWord(std::string_view word) {
  return ValueIn(kGateModes, word);
}
std::optional<Verdict> FromRunWord(std::string_view word) { return ValueIn(kRunVerdicts, word); }

}  // namespace leakgate
