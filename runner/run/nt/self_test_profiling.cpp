#include "runner/run/nt/self_test_profiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "common/event_stream.h"
#include "common/live_slot.h"
#include "common/nt_self_test.h"
#include "runner/run/nt/self_test_child.h"

namespace leakgate {
namespace {

using self_test::MappedEnd;
using self_test::MappedWay;

bool IsHere(const MappedWay& way) {
  return way.function == nullptr ||
         GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), way.function) != nullptr;
}

bool IsAsExpected(const std::vector<MappingCopy>& mappings, std::size_t index) {
  const MappedWay& way = self_test::kMappedWays[index];
  std::vector<MappingCopy> found;
  for (const MappingCopy& mapping : mappings) {
    if (mapping.size_bytes == self_test::MappedBytes(index)) found.push_back(mapping);
  }
  if (way.end == MappedEnd::kGone || !IsHere(way)) return found.empty();
  return found.size() == 1 && found[0].kind == way.kind &&
         IsReserved(found[0]) == (way.end == MappedEnd::kReserved);
}

// Counts the blocks of the program's own size, and which of them are freed. Each thread frees its
// own blocks.
class EventCount {
 public:
  // Returns how many words were whole events.
  std::size_t Add(const EventPiece& piece) {
    std::set<std::uint64_t>& live = live_[piece.thread];
    std::size_t at = 0;
    while (at < piece.words.size()) {
      const std::size_t words = WordsOf(piece.words[at]);
      if (piece.words.size() - at < words) break;
      AddEvent(piece.words.subspan(at, words), live);
      at += words;
    }
    return at;
  }
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t freed() const { return freed_; }

 private:
  static EventTag TagOf(std::uint64_t word) {
    return static_cast<EventTag>(word >> kEventTagShift);
  }

  static std::size_t WordsOf(std::uint64_t word) {
    const EventTag tag = TagOf(word);
    if (tag == EventTag::kFree) return 1;
    if (tag != EventTag::kOther) return 2;  // no block of the program's is that large
    const auto event = static_cast<OtherEvent>((word >> kOtherEventShift) & kOtherEventMask);
    return 1 + WordsAfter(event, (word >> kEventTimeBits) & kOtherValueMask);
  }

  void AddEvent(std::span<const std::uint64_t> words, std::set<std::uint64_t>& live) {
    const EventTag tag = TagOf(words[0]);
    const std::uint64_t address = (words[0] >> kEventTimeBits) & kEventAddressMask;
    if (tag == EventTag::kAllocate && (words[1] & kLongSize) == self_test::kEventBytes) {
      ++allocated_;
      live.insert(address);
    } else if (tag == EventTag::kFree) {
      freed_ += live.erase(address);
    }
  }

  std::map<std::uint32_t, std::set<std::uint64_t>> live_;  // by thread
  std::uint64_t allocated_ = 0;
  std::uint64_t freed_ = 0;
};

}  // namespace

Expected<std::string> TestMappings(const SelfTestRequest& request) {
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child,
                      SelfTestChild::Run(request, {.name = self_test::kMappingsCase}));
  const std::vector<MappingCopy> mappings = child.region().Mappings();
  std::vector<const char*> wrong;
  std::vector<const char*> missing;
  for (std::size_t i = 0; i < std::size(self_test::kMappedWays); ++i) {
    const MappedWay& way = self_test::kMappedWays[i];
    if (!IsAsExpected(mappings, i)) wrong.push_back(way.name);
    if (!IsHere(way)) missing.push_back(way.name);
  }
  if (!wrong.empty()) {
    return DoesNotHold(fmt::format("not seen as they are: {}", fmt::join(wrong, ", ")));
  }
  return fmt::format("{} ways to map, commit and free memory, each exactly{}{}",
                     std::size(self_test::kMappedWays) - missing.size(),
                     missing.empty() ? "" : "; this Windows has no ", fmt::join(missing, ", "));
}

Expected<std::string> TestEvents(const SelfTestRequest& request) {
  constexpr std::uint64_t kBlocks = self_test::kEventThreads * self_test::kEventPairs;
  EventCount count;
  LEAKGATE_TRY_ASSIGN(const SelfTestChild child,
                      SelfTestChild::Run(request, {.name = self_test::kEventsCase,
                                                   .use_events = [&count](const EventPiece& piece) {
                                                     return count.Add(piece);
                                                   }}));
  if (count.allocated() != kBlocks || count.freed() != kBlocks) {
    return DoesNotHold(fmt::format("{} of {} blocks are seen, and {} of their frees",
                                   count.allocated(), kBlocks, count.freed()));
  }
  return fmt::format("{} of {} threads pass through the buffers of a recording, each exactly",
                     2 * kBlocks, self_test::kEventThreads);
}

}  // namespace leakgate
