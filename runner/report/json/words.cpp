#include "runner/report/json/words.h"

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

template <typename Enum>
struct Named {
  Enum value;
  const char* word;
};
template <typename Enum>
Named(Enum, const char*) -> Named<Enum>;

// Each table begins with the word for what no enumerator is.
constexpr std::array kAllocationKinds = {
    Named{AllocationKind::kMalloc, "malloc"},
    Named{AllocationKind::kCalloc, "calloc"},
    Named{AllocationKind::kRealloc, "realloc"},
    Named{AllocationKind::kMemalign, "memalign"},
    Named{AllocationKind::kNew, "new"},
    Named{AllocationKind::kNewArray, "new[]"},
    Named{AllocationKind::kMapped, "mapped"},
    Named{AllocationKind::kMappedFile, "mapped file"},
    Named{AllocationKind::kMappedShared, "shared memory"},
    Named{AllocationKind::kThreadStack, "thread stack"},
};
constexpr std::array kUnwindEnds = {
    Named{UnwindEnd::kUnreadableStack, "unreadable_stack"},
    Named{UnwindEnd::kOutermost, "outermost"},
    Named{UnwindEnd::kDepthLimit, "depth_limit"},
    Named{UnwindEnd::kNoUnwindInfo, "no_unwind_info"},
    Named{UnwindEnd::kBadUnwindInfo, "bad_unwind_info"},
    Named{UnwindEnd::kNotAStack, "not_a_stack"},
    Named{UnwindEnd::kTableFull, "table_full"},
    Named{UnwindEnd::kNotTaken, "not_taken"},
};
constexpr std::array kDropReasons = {
    Named{DropReason::kReentered, "reentered"},
    Named{DropReason::kAddressRange, "address_range"},
    Named{DropReason::kUnaligned, "unaligned"},
    Named{DropReason::kContextTableFull, "context_table_full"},
    Named{DropReason::kMapFull, "map_full"},
    Named{DropReason::kWindowTableFull, "window_table_full"},
    Named{DropReason::kTextFull, "text_full"},
    Named{DropReason::kNoThreadState, "no_thread_state"},
    Named{DropReason::kAllowanceTableFull, "allowance_table_full"},
    Named{DropReason::kMappingTableFull, "mapping_table_full"},
    Named{DropReason::kMeasuringWindowTableFull, "measuring_window_table_full"},
};
constexpr std::array kBoundarySources = {
    Named{BoundarySource::kNone, "none"},
    Named{BoundarySource::kListener, "listener"},
    Named{BoundarySource::kStream, "stream"},
};
constexpr std::array kWindowKinds = {
    Named{WindowKind::kProgram, "program"},
    Named{WindowKind::kSuite, "suite"},
    Named{WindowKind::kTest, "test"},
    Named{WindowKind::kProcess, "process"},
};
constexpr std::array kVerdicts = {
    Named{Verdict::kInconclusive, "inconclusive"}, Named{Verdict::kPass, "pass"},
    Named{Verdict::kOverBudget, "over_budget"},    Named{Verdict::kNotGated, "not_gated"},
    Named{Verdict::kUnconfirmed, "unconfirmed"},
};
// A run that gated nothing has shown nothing: it has no word of its own.
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

template <typename Enum, std::size_t count>
const char* WordIn(const std::array<Named<Enum>, count>& table, Enum value) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Named<Enum>& named) { return named.value == value; });
  return found == table.end() ? table.front().word : found->word;
}

template <typename Enum, std::size_t count>
std::optional<Enum> ValueIn(const std::array<Named<Enum>, count>& table, std::string_view word) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Named<Enum>& named) { return named.word == word; });
  return found == table.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace

const char* Word(AllocationKind kind) { return WordIn(kAllocationKinds, kind); }
const char* Word(UnwindEnd end) { return WordIn(kUnwindEnds, end); }
const char* Word(DropReason reason) { return WordIn(kDropReasons, reason); }
const char* Word(BoundarySource source) { return WordIn(kBoundarySources, source); }
const char* Word(WindowKind kind) { return WordIn(kWindowKinds, kind); }
const char* Word(Verdict verdict) { return WordIn(kVerdicts, verdict); }
const char* Word(Disposition disposition) { return WordIn(kDispositions, disposition); }
const char* Word(Reach reach) { return WordIn(kReaches, reach); }
const char* Word(BaselineState state) { return WordIn(kBaselineStates, state); }
const char* Word(TestStatus status) { return WordIn(kTestStatuses, status); }
const char* Word(GateMode mode) { return WordIn(kGateModes, mode); }
const char* RunWord(Verdict verdict) { return WordIn(kRunVerdicts, verdict); }

template <>
std::optional<AllocationKind> FromWord(std::string_view word) {
  return ValueIn(kAllocationKinds, word);
}
template <>
std::optional<UnwindEnd> FromWord(std::string_view word) {
  return ValueIn(kUnwindEnds, word);
}
template <>
std::optional<BoundarySource> FromWord(std::string_view word) {
  return ValueIn(kBoundarySources, word);
}
template <>
std::optional<WindowKind> FromWord(std::string_view word) {
  return ValueIn(kWindowKinds, word);
}
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
