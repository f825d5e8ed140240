#include "runner/report/json_words.h"

namespace leakgate {

const char* Word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kOverBudget:
      return "over_budget";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kNotGated:
      return "not_gated";
    case Verdict::kUnconfirmed:
      return "unconfirmed";
  }
  return "inconclusive";
}

const char* Word(Disposition disposition) {
  switch (disposition) {
    case Disposition::kOutstanding:
      return "outstanding";
    case Disposition::kFramework:
      return "framework";
    case Disposition::kAllowed:
      return "allowed";
    case Disposition::kOtherThread:
      return "other_thread";
    case Disposition::kReplaced:
      return "replaced";
    case Disposition::kReleasedLater:
      return "released_later";
    case Disposition::kOneTime:
      return "one_time";
    case Disposition::kBounded:
      return "bounded";
    case Disposition::kSteady:
      return "steady";
    case Disposition::kUnconfirmed:
      return "unconfirmed";
    case Disposition::kKnown:
      return "known";
  }
  return "outstanding";
}

const char* Word(BaselineState state) { return state == BaselineState::kKnown ? "known" : "new"; }

const char* Word(Reach reach) {
  switch (reach) {
    case Reach::kUnknown:
      return "unknown";
    case Reach::kLost:
      return "lost";
    case Reach::kIndirectlyLost:
      return "indirectly_lost";
    case Reach::kRetained:
      return "retained";
  }
  return "unknown";
}

const char* Word(TestStatus status) {
  switch (status) {
    case TestStatus::kPassed:
      return "passed";
    case TestStatus::kFailed:
      return "failed";
    case TestStatus::kSkipped:
      return "skipped";
    case TestStatus::kCrashed:
      return "crashed";
    case TestStatus::kNone:
    case TestStatus::kNotPassed:
      return "not_passed";
  }
  return "not_passed";
}

const char* Word(GateMode mode) {
  switch (mode) {
    case GateMode::kGate:
      return "gate";
    case GateMode::kStrict:
      return "strict";
    case GateMode::kWarnOnly:
      return "warn_only";
  }
  return "gate";
}

const char* RunWord(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kOverBudget:
      return "failed";
    case Verdict::kUnconfirmed:
      return "unconfirmed";
    case Verdict::kNotGated:  // a run that gated nothing has shown nothing
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

}  // namespace leakgate
