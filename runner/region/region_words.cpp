#include "runner/region/region_words.h"

namespace leakgate {

const char* Word(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::kMalloc:
      return "malloc";
    case AllocationKind::kCalloc:
      return "calloc";
    case AllocationKind::kRealloc:
      return "realloc";
    case AllocationKind::kMemalign:
      return "memalign";
    case AllocationKind::kNew:
      return "new";
    case AllocationKind::kNewArray:
      return "new[]";
    case AllocationKind::kMapped:
      return "mapped";
    case AllocationKind::kMappedFile:
      return "mapped file";
    case AllocationKind::kMappedShared:
      return "shared memory";
    case AllocationKind::kThreadStack:
      return "thread stack";
  }
  return "malloc";
}

const char* Word(UnwindEnd end) {
  switch (end) {
    case UnwindEnd::kOutermost:
      return "outermost";
    case UnwindEnd::kDepthLimit:
      return "depth_limit";
    case UnwindEnd::kNoUnwindInfo:
      return "no_unwind_info";
    case UnwindEnd::kBadUnwindInfo:
      return "bad_unwind_info";
    case UnwindEnd::kUnreadableStack:
      return "unreadable_stack";
    case UnwindEnd::kNotAStack:
      return "not_a_stack";
    case UnwindEnd::kTableFull:
      return "table_full";
    case UnwindEnd::kNotTaken:
      return "not_taken";
  }
  return "unreadable_stack";
}

const char* Word(DropReason reason) {
  switch (reason) {
    case DropReason::kReentered:
      return "reentered";
    case DropReason::kAddressRange:
      return "address_range";
    case DropReason::kUnaligned:
      return "unaligned";
    case DropReason::kContextTableFull:
      return "context_table_full";
    case DropReason::kMapFull:
      return "map_full";
    case DropReason::kWindowTableFull:
      return "window_table_full";
    case DropReason::kTextFull:
      return "text_full";
    case DropReason::kNoThreadState:
      return "no_thread_state";
    case DropReason::kAllowanceTableFull:
      return "allowance_table_full";
    case DropReason::kMappingTableFull:
      return "mapping_table_full";
    case DropReason::kMeasuringWindowTableFull:
      return "measuring_window_table_full";
  }
  return "reentered";
}

const char* Word(BoundarySource source) {
  switch (source) {
    case BoundarySource::kListener:
      return "listener";
    case BoundarySource::kStream:
      return "stream";
    case BoundarySource::kNone:
      return "none";
  }
  return "none";
}

const char* Word(WindowKind kind) {
  switch (kind) {
    case WindowKind::kProgram:
      return "program";
    case WindowKind::kSuite:
      return "suite";
    case WindowKind::kTest:
      return "test";
    case WindowKind::kProcess:
      return "process";
  }
  return "program";
}

}  // namespace leakgate
