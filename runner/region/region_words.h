// The words for the enumerations of a region, in reports and messages alike. Reports depend on
// them: docs/leakgate-report-2.schema.json lists the same ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/allocation_kind.h"
#include "common/drop_reason.h"
#include "common/region_layout.h"
#include "common/stack_event.h"
#include "common/unwind_end.h"
#include "runner/base/expected.h"
#include "runner/base/word_table.h"

namespace leakgate {

template <>
struct WordTable<AllocationKind> {
  static constexpr std::array kWords = {
      Named{AllocationKind::kMalloc, "malloc"},
      Named{AllocationKind::kCalloc, "calloc"},
      Named{AllocationKind::kRealloc, "realloc"},
      Named{AllocationKind::kMemalign, "memalign"},
      Named{AllocationKind::kNew, "new"},
      Named{AllocationKind::kNewArray, "new[]"},
      Named{AllocationKind::kHeap, "heap"},
      Named{AllocationKind::kMapped, "mapped"},
      Named{AllocationKind::kMappedFile, "mapped file"},
      Named{AllocationKind::kMappedShared, "shared memory"},
      Named{AllocationKind::kThreadStack, "thread stack"},
      Named{AllocationKind::kPool, "pool"},
  };
};

template <>
struct WordTable<UnwindEnd> {
  static constexpr std::array kWords = {
      Named{UnwindEnd::kUnreadableStack, "unreadable_stack"},
      Named{UnwindEnd::kOutermost, "outermost"},
      Named{UnwindEnd::kDepthLimit, "depth_limit"},
      Named{UnwindEnd::kNoUnwindInfo, "no_unwind_info"},
      Named{UnwindEnd::kBadUnwindInfo, "bad_unwind_info"},
      Named{UnwindEnd::kNotAStack, "not_a_stack"},
      Named{UnwindEnd::kTableFull, "table_full"},
      Named{UnwindEnd::kNotTaken, "not_taken"},
  };
};

template <>
struct WordTable<DropReason> {
  static constexpr std::array kWords = {
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
      Named{DropReason::kMissedFree, "missed_free"},
      Named{DropReason::kPoolTableFull, "pool_table_full"},
  };
};

template <>
struct WordTable<BoundarySource> {
  static constexpr std::array kWords = {
      Named{BoundarySource::kNone, "none"},
      Named{BoundarySource::kListener, "listener"},
      Named{BoundarySource::kStream, "stream"},
  };
};

template <>
struct WordTable<WindowKind> {
  static constexpr std::array kWords = {
      Named{WindowKind::kProgram, "program"},
      Named{WindowKind::kSuite, "suite"},
      Named{WindowKind::kTest, "test"},
      Named{WindowKind::kProcess, "process"},
  };
};

// The events whose stacks are recorded are bits of common/stack_event.h, and have names, as in
// `--stacks alloc,realloc,free`.

// Parses names separated by commas into the bits. Fails with a usage error that says what is wrong,
// and which names there are.
[[nodiscard]] Expected<std::uint32_t> ParseStackEvents(std::string_view text);

// Returns the names of the events in `events`: "alloc", "realloc", "free", "churn", in this order.
// The last one is not an event with stacks: it makes allocations count by stack.
[[nodiscard]] std::vector<std::string> StackEventNames(std::uint32_t events);
// The same in one text, such as "alloc, realloc".
[[nodiscard]] std::string StackEventsText(std::uint32_t events);

// The reverse of StackEventNames. Ignores unknown names.
[[nodiscard]] std::uint32_t StackEventsFromNames(const std::vector<std::string>& names);

}  // namespace leakgate
