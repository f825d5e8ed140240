// What an interval is told from bins of time, against what EventTally counts of it event by event,
// for 100 random programs of several threads.
#include "runner/recording/view/lives_over_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "tests/unit/recording/view/random_events.h"

namespace leakgate {
namespace {

using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;

struct Sums {
  RecordedSum total, inside_freed, before_freed, temporary, later, live_at_begin, live_at_end;

  friend bool operator==(const Sums&, const Sums&) = default;
};
using SumsByStack = std::map<std::uint32_t, Sums>;

// Adds up the lives of the bins from `begin` on and before `end`.
SumsByStack SumsOf(const std::vector<Life>& lives, std::size_t begin, std::size_t end) {
  SumsByStack by_stack;
  for (const Life& life : lives) {
    const auto& [stack, allocated, freed, decade] = life.key;
    const bool is_before = allocated == LifeKey::kBefore || allocated < begin;
    if (!is_before && allocated >= end) continue;
    Sums& sums = by_stack[stack];
    const bool is_live_at_begin = is_before && freed >= begin;
    const bool is_freed_inside = freed >= begin && freed < end;
    if (is_live_at_begin) sums.live_at_begin += life.sum;
    if (freed >= end) sums.live_at_end += life.sum;
    if (is_live_at_begin && is_freed_inside) sums.before_freed += life.sum;
    if (is_before) continue;
    sums.total += life.sum;
    if (is_freed_inside) sums.inside_freed += life.sum;
    if (is_freed_inside) sums.temporary += life.temporary;
    if (!is_freed_inside && freed != LifeKey::kNever) sums.later += life.sum;
  }
  std::erase_if(by_stack, [](const auto& it) { return it.second == Sums(); });
  return by_stack;
}

SumsByStack SumsOf(const EventTally& tally) {
  SumsByStack by_stack;
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    const RecordedCounts& counts = tally.by_stack()[i];
    RecordedSum live_at_begin = counts.BeforeKept();
    live_at_begin += counts.before_freed;
    const Sums sums = {.total = counts.total,
                       .inside_freed = counts.inside_freed,
                       .before_freed = counts.before_freed,
                       .temporary = counts.temporary,
                       .later = counts.later,
                       .live_at_begin = live_at_begin,
                       .live_at_end = counts.live};
    if (sums != Sums()) by_stack[tally.stacks()[i]] = sums;
  }
  return by_stack;
}

void PrintTo(const Sums& sums, std::ostream* out) {
  for (const RecordedSum& sum : {sums.total, sums.inside_freed, sums.before_freed, sums.temporary,
                                 sums.later, sums.live_at_begin, sums.live_at_end}) {
    *out << sum.bytes << '/' << sum.blocks << ' ';
  }
}

StackNumbers SameNumbers() {
  StackNumbers numbers;
  numbers.of_stack.resize(200);
  std::iota(numbers.of_stack.begin(), numbers.of_stack.end(), 0U);
  return numbers;
}

class LivesOverTimeTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  RandomEvents random_{{.seed = GetParam(), .threads = 1 + GetParam() % 6}};
  std::vector<RecordedEvent> events_ = random_.Recorded();
  std::uint64_t end_ns_ = events_.back().time_ns + 1;

  EventTally& Tally(Interval interval, RecordedBlockFilter filter = {}) {
    tally_ = std::make_unique<EventTally>(std::move(interval), std::move(filter));
    tally_->Add(events_);
    tally_->Finish(end_ns_);
    return *tally_;
  }
  LivesOverTime& Lives(LivesOptions options, StackNumbers numbers = SameNumbers()) {
    if (options.end_ns == 0) options.end_ns = end_ns_;
    lives_ = std::make_unique<LivesOverTime>(std::move(options), std::move(numbers));
    lives_->Add(events_);
    lives_->Finish(end_ns_);
    return *lives_;
  }

  // Compares some intervals between borders.
  void ExpectSameSums(const LivesOverTime& over_time, const RecordedBlockFilter& filter = {}) {
    const std::vector<std::uint64_t> borders = over_time.Borders();
    const std::vector<Life> lives = over_time.Lives();
    const std::size_t bins = borders.size() - 1;
    for (std::size_t round = 0; round < 6; ++round) {
      const std::size_t begin = (GetParam() * 7 + round * 5) % bins;
      const std::size_t end = round == 0 ? bins : begin + 1 + (round * 11) % (bins - begin);
      Interval interval{.from = {.time_ns = borders[begin]}};
      if (end != bins) interval.to.time_ns = borders[end];
      const EventTally& tally = Tally(interval, filter);
      ASSERT_EQ(SumsOf(lives, begin, end), SumsOf(tally)) << begin << " to " << end;
      ExpectSameLifetimes(lives, begin, end, tally);
      ExpectSamePeak(over_time, begin, end, tally);
    }
  }

 private:
  static void ExpectSameLifetimes(const std::vector<Life>& lives, std::size_t begin,
                                  std::size_t end, const EventTally& tally) {
    std::array<RecordedSum, LifetimeDecades::kDecades> decades{};
    for (const Life& life : lives) {
      const bool is_inside = life.key.allocated_bin >= begin && life.key.allocated_bin < end &&
                             life.key.freed_bin >= begin && life.key.freed_bin < end;
      if (is_inside) decades[life.key.decade] += life.sum;
    }
    EXPECT_EQ(decades, tally.decades().all());
  }
  static void ExpectSamePeak(const LivesOverTime& over_time, std::size_t begin, std::size_t end,
                             const EventTally& tally) {
    BinPeak peak = over_time.peaks()[begin];
    for (std::size_t bin = begin; bin < end; ++bin) {
      if (over_time.peaks()[bin].live.bytes > peak.live.bytes) peak = over_time.peaks()[bin];
    }
    EXPECT_EQ(peak.live, tally.peak().live);
    EXPECT_EQ(peak.window, tally.peak().window);
  }

  std::unique_ptr<EventTally> tally_;
  std::unique_ptr<LivesOverTime> lives_;
};

TEST_P(LivesOverTimeTest, HasTheSumsOfAnyIntervalBetweenItsBorders) {
  ExpectSameSums(Lives({.steps = 50}));
}

TEST_P(LivesOverTimeTest, HasThemAfterBinsWereMerged) {
  const LivesOverTime& lives = Lives({.steps = 200, .lives = 250 + GetParam()});
  EXPECT_THAT(lives.Lives(), SizeIs(Le(250 + GetParam())));
  ExpectSameSums(lives);
}

TEST_P(LivesOverTimeTest, HasThemAfterStacksBecameAPartOfARest) {
  // Stacks 4 to 15 are numbers 1 to 12; what is left out of them is in 13 or 14.
  StackNumbers numbers;
  for (std::uint32_t stack = 0; stack < 16; ++stack) {
    numbers.of_stack.push_back(stack < 4 ? StackNumbers::kNotCounted : stack - 3);
  }
  for (std::uint32_t number = 1; number <= 12; ++number) {
    numbers.rest_of.push_back(13 + number % 2);
  }
  LivesOverTime& lives = Lives({.steps = 40, .lives = 400}, numbers);
  while (lives.kept_stacks() > 2) ASSERT_TRUE(lives.Reduce());
  EXPECT_THAT(lives.Borders(), SizeIs(Ge(2U)));

  const auto number_of = [&](std::uint32_t stack) {
    const std::uint32_t number = stack - 3;
    return number <= lives.kept_stacks() ? number : numbers.rest_of[number];
  };
  const std::size_t bins = lives.Borders().size() - 1;
  SumsByStack expected;
  for (const auto& [stack, sums] : SumsOf(Tally({}))) {
    Sums& all = expected[number_of(stack)];
    all.total += sums.total;
    all.inside_freed += sums.inside_freed;
    all.before_freed += sums.before_freed;
    all.temporary += sums.temporary;
    all.later += sums.later;
    all.live_at_begin += sums.live_at_begin;
    all.live_at_end += sums.live_at_end;
  }
  EXPECT_EQ(SumsOf(lives.Lives(), 0, bins), expected);
}

TEST_P(LivesOverTimeTest, HasThemOfChosenSizesAndStacks) {
  StackNumbers even = SameNumbers();
  for (std::size_t stack = 1; stack < even.of_stack.size(); stack += 2) {
    even.of_stack[stack] = StackNumbers::kNotCounted;
  }
  const auto is_even = [](std::uint32_t stack) { return stack % 2 == 0; };
  const NumberRange large = {.least = 50};
  ExpectSameSums(Lives({.size_bytes = large, .steps = 20}, even),
                 {.size_bytes = large, .has_stack = is_even});
}

TEST_P(LivesOverTimeTest, CountsAnIntervalFromATestToAMark) {
  const auto is_begin = [](const RecordedEvent& event) {
    return event.kind == RecordedKind::kWindowBegins && event.window == 4;
  };
  const auto is_end = [](const RecordedEvent& event) {
    return event.kind == RecordedKind::kMark && event.mark == 1;
  };
  const Interval interval = {.from = {.is_at = is_begin}, .to = {.is_at = is_end}};
  const EventTally& tally = Tally(interval);
  const std::uint64_t begin_ns = tally.interval().begin_ns();
  const std::uint64_t end_ns = tally.interval().has_ended() ? tally.interval().end_ns() : end_ns_;
  const LivesOverTime& lives =
      Lives({.interval = interval, .begin_ns = begin_ns, .end_ns = end_ns, .steps = 30});

  const std::vector<std::uint64_t> borders = lives.Borders();
  EXPECT_EQ(borders.front(), begin_ns);
  EXPECT_EQ(borders.back(), end_ns);
  EXPECT_EQ(SumsOf(lives.Lives(), 0, borders.size() - 1), SumsOf(tally));
}

TEST_P(LivesOverTimeTest, CutsWhereTestsBeginAndEndAndMarksAreSet) {
  const LivesOverTime& lives = Lives({.steps = 1});
  const std::vector<std::uint64_t> borders = lives.Borders();
  const auto has_border_at = [&](std::uint64_t time_ns) {
    return std::find(borders.begin(), borders.end(), time_ns) != borders.end();
  };
  ASSERT_THAT(lives.windows(), Not(IsEmpty()));
  for (const LivesOverTime::Span& window : lives.windows()) {
    EXPECT_TRUE(has_border_at(window.begin_ns + 1)) << window.window;
    EXPECT_TRUE(has_border_at(window.end_ns + 1) || window.end_ns >= end_ns_ - 1);
  }
  for (const LivesOverTime::Mark& mark : lives.marks()) {
    EXPECT_TRUE(has_border_at(mark.time_ns + 1) || mark.time_ns >= end_ns_ - 1);
  }
}

TEST_P(LivesOverTimeTest, TheCurveHasEveryPeakAndTrough) {
  const LivesOverTime& lives = Lives({.points = 37});
  const EventTally& tally = Tally({});
  ASSERT_THAT(lives.curve().points(), SizeIs(Le(37U)));
  std::uint64_t most = 0;
  for (const LiveCurve::Point& point : lives.curve().points()) {
    EXPECT_LE(point.least, point.most);
    most = std::max(most, point.most);
  }
  EXPECT_EQ(most, tally.peak().live.bytes);
  EXPECT_EQ(lives.curve().points().front().least, 0U);
  EXPECT_LE(lives.curve().points().back().least, tally.all().live.bytes);
  EXPECT_GE(lives.curve().points().back().most, tally.all().live.bytes);
}

INSTANTIATE_TEST_SUITE_P(RandomPrograms, LivesOverTimeTest, testing::Range(1U, 101U));

// A program that sets marks and begins tests without end.
TEST(LivesOverTimeBoundsTest, KeepsItsBoundsWhateverThereIs) {
  const std::uint64_t end_ns = 100'000'000;
  LivesOverTime lives({.end_ns = end_ns,
                       .steps = 64,
                       .bins = 100,
                       .lives = 500,
                       .points = 50,
                       .windows = 10,
                       .marks = 10},
                      SameNumbers());
  std::vector<RecordedEvent> events;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t time_ns = i * 5000;
    const auto window = static_cast<std::uint32_t>(i + 2);
    const auto stack = static_cast<std::uint32_t>(i % 100);
    events.push_back({.time_ns = time_ns, .window = window, .kind = RecordedKind::kWindowBegins});
    events.push_back({.time_ns = time_ns + 1,
                      .address = 0x1000 + 16 * (i % 700),
                      .size_bytes = 10,
                      .stack = stack,
                      .window = window});
    events.push_back({.time_ns = time_ns + 2, .kind = RecordedKind::kMark});
    if (i >= 600) {
      events.push_back({.time_ns = time_ns + 3,
                        .address = 0x1000 + 16 * ((i - 600) % 700),
                        .kind = RecordedKind::kFree});
    }
    events.push_back({.time_ns = time_ns + 4, .window = window, .kind = RecordedKind::kWindowEnds});
  }
  lives.Add(events);
  lives.Finish(end_ns);

  EXPECT_THAT(lives.Lives(), SizeIs(Le(500U)));
  EXPECT_THAT(lives.Borders(), SizeIs(Le(101U)));
  EXPECT_THAT(lives.curve().points(), SizeIs(Le(50U)));
  EXPECT_THAT(lives.windows(), SizeIs(10));
  EXPECT_EQ(lives.window_count(), 20'000U);
  EXPECT_THAT(lives.marks(), SizeIs(10));
  EXPECT_EQ(lives.mark_count(), 20'000U);
  const std::vector<std::uint64_t> borders = lives.Borders();
  EXPECT_TRUE(std::is_sorted(borders.begin(), borders.end()));
  std::uint64_t blocks = 0;
  for (const Life& life : lives.Lives()) blocks += life.sum.blocks;
  EXPECT_EQ(blocks, 20'000U);
}

// Blocks of many stacks that live for any time: time must not be all that is given up.
TEST(LivesOverTimeBoundsTest, FoldsStacksBeforeAnIntervalCannotBeDraggedAnyMore) {
  constexpr std::uint32_t kStacks = 4000;
  StackNumbers numbers;
  for (std::uint32_t stack = 0; stack <= kStacks; ++stack) numbers.of_stack.push_back(stack);
  numbers.rest_of.resize(kStacks + 1, kStacks + 1);
  LivesOverTime lives({.end_ns = 100'000'000, .lives = 20'000}, std::move(numbers));
  std::mt19937 random(1);
  std::vector<RecordedEvent> events;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const std::uint64_t address = 0x1000 + 16 * (random() % 5000);
    events.push_back({.time_ns = i * 500, .address = address, .kind = RecordedKind::kFree});
    events.push_back({.time_ns = i * 500 + 1,
                      .address = address,
                      .size_bytes = 10,
                      .stack = 1 + static_cast<std::uint32_t>(random() % kStacks)});
  }
  lives.Add(events);
  lives.Finish(100'000'000);

  EXPECT_THAT(lives.Lives(), SizeIs(Le(20'000U)));
  EXPECT_GT(lives.Borders().size(), 30U);
  EXPECT_GT(lives.kept_stacks(), 30U);
}

TEST(LivesOverTimeBoundsTest, ATestWhoseBeginIsToldTwiceIsOneTest) {
  LivesOverTime lives({.end_ns = 1000}, {.of_stack = {}});
  const std::vector<RecordedEvent> events = {
      {.time_ns = 100, .window = 2, .kind = RecordedKind::kWindowBegins},
      {.time_ns = 150, .window = 2, .kind = RecordedKind::kWindowBegins},
      {.time_ns = 400, .window = 2, .kind = RecordedKind::kWindowEnds}};
  lives.Add(events);
  lives.Finish(1000);
  ASSERT_THAT(lives.windows(), SizeIs(1));
  EXPECT_EQ(lives.windows()[0].begin_ns, 100U);
  EXPECT_EQ(lives.windows()[0].end_ns, 400U);
}

TEST(LivesOverTimeBoundsTest, ARecordingWithoutEventsHasOneBin) {
  LivesOverTime lives({.begin_ns = 0, .end_ns = 0}, {.of_stack = {}});
  lives.Finish(0);
  EXPECT_THAT(lives.Borders(), Each(Ge(0U)));
  EXPECT_THAT(lives.Borders(), SizeIs(2));
  EXPECT_THAT(lives.Lives(), IsEmpty());
  EXPECT_THAT(lives.curve().points(), SizeIs(1));
}

}  // namespace
}  // namespace leakgate
