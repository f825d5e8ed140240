#include "runner/region/region_words.h"

#include <array>

#include "runner/base/word_table.h"

namespace leakgate {
namespace {

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

}  // namespace

const char* Word(AllocationKind kind) { return WordIn(kAllocationKinds, kind); }
const char* Word(UnwindEnd end) { return WordIn(kUnwindEnds, end); }
const char* Word(DropReason reason) { return WordIn(kDropReasons, reason); }
const char* Word(BoundarySource source) { return WordIn(kBoundarySources, source); }
const char* Word(WindowKind kind) { return WordIn(kWindowKinds, kind); }

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

}  // namespace leakgate
