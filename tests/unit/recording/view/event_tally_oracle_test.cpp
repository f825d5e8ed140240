// The sums of an analysis against a model that is told the truth, for 100 random programs of
// several threads: it knows which free is of which block, and counts by plain maps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "runner/recording/view/event_tally.h"
#include "tests/unit/recording/view/random_events.h"

namespace leakgate {
namespace {

constexpr std::size_t kNever = SIZE_MAX;

struct TrueBlock {
  RecordedEvent allocation;
  std::size_t allocated = kNever;  // index of the event
  std::size_t freed = kNever;
  RecordedEvent free;
  std::size_t ended = kNever;  // when it was freed, or its address allocated again
  std::uint64_t ended_ns = 0;
  bool was_temporary = false;
};

struct TrueSums {
  std::map<std::uint32_t, RecordedSum> total, outstanding, temporary, before_freed, at_peak, later;
  std::map<std::uint32_t, std::uint64_t> longest;
  RecordedSum peak;
  std::size_t peak_event = kNever;
};

// What really happened, between the events of two indices.
class Model {
 public:
  explicit Model(const std::vector<TrueEvent>& events) : events_(events) {
    std::map<std::uint64_t, std::vector<std::size_t>> by_address;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const RecordedEvent& event = events[i].event;
      const bool is_vain = event.kind == RecordedKind::kFree && i + 1 < events.size() &&
                           events[i + 1].event.kind == RecordedKind::kRestore;
      if (event.kind == RecordedKind::kAllocate) {
        TrueBlock& block = blocks_[events[i].block];
        block.allocation = event;
        block.allocated = i;
        by_address[event.address].push_back(events[i].block);
      } else if (event.kind == RecordedKind::kFree && !is_vain) {
        blocks_[events[i].block].freed = i;
        blocks_[events[i].block].free = event;
      } else if (is_vain) {
        vain_.push_back(i);
      }
    }
    for (const auto& [address, blocks] : by_address) End(blocks);
    for (auto& [id, block] : blocks_) block.was_temporary = IsTemporary(block);
  }

  // Events from `from` on and before `to` are in the interval.
  TrueSums SumsOf(std::size_t from, std::size_t to, bool (*chosen)(const TrueBlock&)) const {
    TrueSums sums;
    for (const auto& [id, block] : blocks_) {
      if (!chosen(block) || block.allocated >= to) continue;
      const std::uint64_t bytes = block.allocation.size_bytes;
      const std::uint32_t stack = block.allocation.stack;
      const bool is_inside = block.allocated >= from;
      const bool is_freed = block.ended >= from && block.ended < to;
      if (is_inside) sums.total[stack].Add(bytes);
      if (!is_inside && is_freed) sums.before_freed[stack].Add(bytes);
      if (!is_inside) continue;
      if (!is_freed) sums.outstanding[stack].Add(bytes);
      if (!is_freed && block.ended != kNever) sums.later[stack].Add(bytes);
      if (block.was_temporary && block.freed < to) sums.temporary[stack].Add(bytes);
      if (!is_freed) continue;
      std::uint64_t& longest = sums.longest[stack];
      longest = std::max(longest, block.ended_ns - block.allocation.time_ns);
    }
    FindPeak(from, to, chosen, sums);
    return sums;
  }

 private:
  // The n-th block at an address ends with its free, or with the next allocation there. What was
  // freed before it was allocated lived for no time.
  void End(const std::vector<std::size_t>& blocks) {
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      TrueBlock& block = blocks_[blocks[n]];
      block.ended = block.freed == kNever ? kNever : std::max(block.freed, block.allocated);
      if (n + 1 < blocks.size())
        block.ended = std::min(block.ended, blocks_[blocks[n + 1]].allocated);
      if (block.ended != kNever) block.ended_ns = events_[block.ended].event.time_ns;
    }
  }

  bool IsTemporary(const TrueBlock& block) const {
    if (block.freed == kNever || block.free.thread != block.allocation.thread) return false;
    for (std::size_t i = block.allocated + 1; i < block.freed; ++i) {
      const RecordedEvent& event = events_[i].event;
      if (event.kind == RecordedKind::kAllocate && event.thread == block.allocation.thread) {
        return false;
      }
    }
    return true;
  }

  void FindPeak(std::size_t from, std::size_t to, bool (*chosen)(const TrueBlock&),
                TrueSums& sums) const {
    std::vector<std::vector<const TrueBlock*>> begins(events_.size()), ends(events_.size());
    for (const auto& [id, block] : blocks_) {
      if (!chosen(block) || block.ended == block.allocated) continue;
      begins[block.allocated].push_back(&block);
      if (block.ended != kNever) ends[block.ended].push_back(&block);
    }
    std::map<std::uint32_t, RecordedSum> live;
    RecordedSum all;
    const auto look = [&](std::size_t event) {
      if (sums.peak_event != kNever && all.bytes <= sums.peak.bytes) return;
      sums.peak = all;
      sums.peak_event = event;
      sums.at_peak = live;
    };
    for (std::size_t i = 0; i < std::min(to, events_.size()); ++i) {
      if (i == from) look(0);
      for (const TrueBlock* const block : ends[i]) {
        live[block->allocation.stack].Remove(block->allocation.size_bytes);
        all.Remove(block->allocation.size_bytes);
      }
      for (const TrueBlock* const block : begins[i]) {
        live[block->allocation.stack].Add(block->allocation.size_bytes);
        all.Add(block->allocation.size_bytes);
      }
      if (i >= from) look(i + 1);
    }
  }

  const std::vector<TrueEvent>& events_;
  std::map<std::size_t, TrueBlock> blocks_;
  std::vector<std::size_t> vain_;
};

std::map<std::uint32_t, RecordedSum> ByStack(const EventTally& tally,
                                             RecordedSum (*sum)(const RecordedCounts&)) {
  std::map<std::uint32_t, RecordedSum> by_stack;
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    const RecordedSum it = sum(tally.by_stack()[i]);
    if (it != RecordedSum()) by_stack[tally.stacks()[i]] = it;
  }
  return by_stack;
}

std::map<std::uint32_t, RecordedSum> WithoutEmpty(std::map<std::uint32_t, RecordedSum> sums) {
  std::erase_if(sums, [](const auto& it) { return it.second == RecordedSum(); });
  return sums;
}

void ExpectSame(const EventTally& tally, const TrueSums& sums) {
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.total; }), sums.total);
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.Outstanding(); }),
            sums.outstanding);
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.before_freed; }),
            sums.before_freed);
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.temporary; }), sums.temporary);
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.later; }), sums.later);
  if (!tally.HasPeak()) return;
  EXPECT_EQ(tally.peak().live, sums.peak);
  EXPECT_EQ(tally.peak().event, sums.peak_event);
  EXPECT_EQ(ByStack(tally, [](const RecordedCounts& it) { return it.at_peak; }),
            WithoutEmpty(sums.at_peak));
}

// Gives events in batches of odd sizes.
void Feed(EventTally& tally, const std::vector<RecordedEvent>& events) {
  const std::span<const RecordedEvent> all(events);
  for (std::size_t at = 0, size = 1; at < all.size(); at += size, size = size % 97 + 3) {
    tally.Add(all.subspan(at, std::min(size, all.size() - at)));
  }
  tally.Finish(events.back().time_ns + 1);
}

bool All(const TrueBlock&) { return true; }
bool IsLarge(const TrueBlock& block) { return block.allocation.size_bytes >= 1000; }
bool HasEvenStack(const TrueBlock& block) { return block.allocation.stack % 2 == 0; }

class OracleTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  RandomEvents random_{{.seed = GetParam(), .threads = 1 + GetParam() % 6}};
  std::vector<RecordedEvent> events_ = random_.Recorded();
  Model model_{random_.events()};

  std::size_t IndexOfTime(std::uint64_t time_ns) const {
    std::size_t i = 0;
    while (i < events_.size() && events_[i].time_ns < time_ns) ++i;
    return i;
  }
};

TEST_P(OracleTest, CountsTheWholeRecording) {
  EventTally tally({});
  Feed(tally, events_);

  const TrueSums sums = model_.SumsOf(0, kNever, All);
  ExpectSame(tally, sums);
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    const auto longest = sums.longest.find(tally.stacks()[i]);
    EXPECT_GE(tally.by_stack()[i].longest_ns, longest == sums.longest.end() ? 0 : longest->second);
  }
}

TEST_P(OracleTest, CountsAnIntervalOfTime) {
  const std::uint64_t from = events_[events_.size() / 3].time_ns;
  const std::uint64_t to = events_[events_.size() / 2].time_ns;
  EventTally tally({.from = {.time_ns = from}, .to = {.time_ns = to}});
  Feed(tally, events_);

  ExpectSame(tally, model_.SumsOf(IndexOfTime(from), IndexOfTime(to), All));
}

TEST_P(OracleTest, CountsBetweenTwoMarksOrTheWindowsOfATest) {
  const auto is_begin = [](const RecordedEvent& event) {
    return event.kind == RecordedKind::kWindowBegins && event.window == 4;
  };
  const auto is_end = [](const RecordedEvent& event) {
    return event.kind == RecordedKind::kMark && event.mark == 1;
  };
  EventTally tally({.from = {.is_at = is_begin}, .to = {.is_at = is_end}});
  Feed(tally, events_);

  std::size_t from = 0;
  while (!is_begin(events_[from])) ++from;
  std::size_t to = from + 1;
  while (to < events_.size() && !is_end(events_[to])) ++to;
  ExpectSame(tally, model_.SumsOf(from, to, All));
}

TEST_P(OracleTest, CountsChosenSizesAndStacks) {
  EventTally large({}, {.size_bytes = {.least = 1000}});
  Feed(large, events_);
  ExpectSame(large, model_.SumsOf(0, kNever, IsLarge));

  EventTally even({}, {.has_stack = [](std::uint32_t stack) { return stack % 2 == 0; }});
  Feed(even, events_);
  ExpectSame(even, model_.SumsOf(0, kNever, HasEvenStack));
}

TEST_P(OracleTest, SplitsAllSumsByLifetimeWithoutARest) {
  EventTally all({});
  EventTally shorter({}, {.lifetime_ns = {.most = 9'999}});
  EventTally longer({}, {.lifetime_ns = {.least = 10'000}});
  Feed(all, events_);
  Feed(shorter, events_);
  Feed(longer, events_);

  RecordedCounts both = shorter.all();
  both += longer.all();
  EXPECT_EQ(both.total, all.all().total);
  EXPECT_EQ(both.inside_freed, all.all().inside_freed);
  EXPECT_EQ(both.temporary, all.all().temporary);
  EXPECT_FALSE(shorter.HasPeak());
}

TEST_P(OracleTest, HasTheSameSumsByEachGrouping) {
  const std::uint64_t from = events_[events_.size() / 4].time_ns;
  EventTally tally({.from = {.time_ns = from}});
  Feed(tally, events_);

  const auto expect_all = [&](const auto& groups) {
    RecordedCounts sum;
    for (const RecordedCounts& group : groups) sum += group;
    EXPECT_EQ(sum.total, tally.all().total);
    EXPECT_EQ(sum.live, tally.all().live);
    EXPECT_EQ(sum.at_peak, tally.peak().live);
    EXPECT_EQ(sum.temporary, tally.all().temporary);
    EXPECT_EQ(sum.inside_freed, tally.all().inside_freed);
    EXPECT_EQ(sum.before_freed, tally.all().before_freed);
  };
  expect_all(tally.by_stack());
  expect_all(tally.by_thread());
  expect_all(tally.by_window());
  expect_all(tally.by_kind());
  expect_all(tally.by_size());
}

INSTANTIATE_TEST_SUITE_P(RandomPrograms, OracleTest, testing::Range(1U, 101U));

}  // namespace
}  // namespace leakgate
