#include "runner/region/region_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

struct NamedEvent {
  std::uint32_t event;
  std::string_view name;
};

constexpr std::array kEvents = {NamedEvent{kStacksOfAlloc, "alloc"},
                                NamedEvent{kStacksOfRealloc, "realloc"},
                                NamedEvent{kStacksOfFree, "free"}};

// Returns 0 if no event has this name.
std::uint32_t FindEvent(std::string_view name) {
  for (const NamedEvent& it : kEvents) {
    if (it.name == name) return it.event;
  }
  return 0;
}

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

Expected<std::uint32_t> ParseStackEvents(std::string_view text) {
  if (text.empty()) {
    return UsageError(
        "--stacks names no stack event; write one or more of alloc, realloc and free: --stacks "
        "alloc,realloc");
  }
  std::uint32_t events = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view name = text.substr(at, comma - at);
    const std::uint32_t event = FindEvent(name);
    if (event == 0) {
      return UsageError(
          fmt::format("invalid stack event '{}': there are alloc, realloc and free; write for "
                      "example --stacks alloc,realloc",
                      name));
    }
    if ((events & event) != 0) {
      return UsageError(
          fmt::format("duplicate stack event '{}': name each of alloc, realloc and free once at "
                      "most",
                      name));
    }
    events |= event;
    at = comma + 1;
  }
  return events;
}

std::vector<std::string> StackEventNames(std::uint32_t events) {
  std::vector<std::string> names;
  for (const NamedEvent& it : kEvents) {
    if ((events & it.event) != 0) names.emplace_back(it.name);
  }
  return names;
}

std::string StackEventsText(std::uint32_t events) {
  return fmt::format("{}", fmt::join(StackEventNames(events), ", "));
}

std::uint32_t StackEventsFromNames(const std::vector<std::string>& names) {
  std::uint32_t events = 0;
  for (const std::string& name : names) events |= FindEvent(name);
  return events;
}

}  // namespace leakgate
