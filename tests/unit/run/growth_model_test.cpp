// Judges the model's random programs as a run does, and counts both errors.
//
// LEAKGATE_MODEL_PROGRAMS=10000 judges more of them, and prints the rates that
// docs/internals/accuracy-method.md has.
#include "tests/unit/run/growth_model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "runner/judge/all_growth.h"
#include "runner/judge/pause.h"
#include "runner/run/counts_by_stack.h"

namespace leakgate::test {
namespace {

enum class Said { kPasses, kGrows, kUnconfirmed };

std::vector<CountsByStack::Live> LiveIn(const ModelHeap& heap) {
  std::vector<CountsByStack::Live> live;
  live.reserve(heap.blocks().size());
  for (const auto& [id, block] : heap.blocks()) {
    live.push_back({block.stack,
                    kFirstTest,
                    {static_cast<std::int64_t>(block.size_bytes), 1},
                    true,
                    block.is_later});
  }
  return live;
}

// All stacks are of one call site: the harder case, as a function has it that allocates for many.
struct Seen {
  SeriesByStack by_stack;
  AllGrowth all;
};

Seen SeenBy(const CountsByStack& counts) {
  Seen seen;
  for (const auto& [stack, series] : counts.AllSeries()) {
    seen.by_stack[std::to_string(stack)] = series;
    AddSeries(series, seen.all.total);
    const Amount growth = GrowthOf(series);
    seen.all.fallen +=
        {std::max<std::int64_t>(-growth.bytes, 0), std::max<std::int64_t>(-growth.blocks, 0)};
  }
  return seen;
}

class ModelRun {
 public:
  explicit ModelRun(std::uint32_t seed) : seed_(seed) {
    ModelProgram first(seed);
    first.Repeat();
    for (const auto& [id, block] : first.heap().blocks()) {
      asked_.insert(std::to_string(block.stack));
    }
  }

  Said Judge() {
    if (asked_.empty()) return Said::kPasses;
    const Said early = JudgeFirst();
    if (early != Said::kUnconfirmed) return early;
    const Said late = JudgeLong();
    return late == Said::kGrows ? JudgeInTime() : late;
  }

 private:
  // Of the sum, by an empty text, and of the stacks that the test has left.
  std::map<std::string, Growth> Growths(const Seen& seen, SeriesLength length) {
    std::map<std::string, Growth> growths = {{"", JudgeSum(seen.all, length).growth}};
    for (const std::string& stack : asked_) {
      const JudgedSeries judged = JudgeStack(seen.by_stack, stack, length);
      const bool is_moved = judged.growth == Growth::kSteady && length == SeriesLength::kFinal &&
                            IsMadeUpFor(seen.all, judged.series);
      growths[stack] = is_moved ? Growth::kIrregular : judged.growth;
      if (judged.growth == Growth::kSteady && !judged.is_of_all_stacks) by_itself_.insert(stack);
    }
    return growths;
  }

  static bool AnyOf(const std::map<std::string, Growth>& growths, Growth wanted) {
    return std::any_of(growths.begin(), growths.end(),
                       [&](const auto& growth) { return growth.second == wanted; });
  }

  Said JudgeFirst() {
    ModelProgram program(seed_);
    CountsByStack counts;
    for (int i = 0; i < 20; ++i) {
      program.Repeat();
      counts.Note(LiveIn(program.heap()));
    }
    const auto growths = Growths(SeenBy(counts), SeriesLength::kShort);
    const bool needs_more = AnyOf(growths, Growth::kSteady) || AnyOf(growths, Growth::kIrregular);
    return needs_more ? Said::kUnconfirmed : Said::kPasses;
  }

  Said JudgeLong() {
    ModelProgram program(seed_);
    CountsByStack counts;
    constexpr std::size_t kMost = 12'000;
    std::size_t looks = 0;
    for (std::size_t i = 0; i < kMost; ++i) {
      program.Repeat();
      if (i % counts.stride() != 0) continue;
      counts.Note(LiveIn(program.heap()));
      if (++looks % 8 != 0) continue;
      const auto growths = Growths(SeenBy(counts), SeriesLength::kOpen);
      if (AnyOf(growths, Growth::kSteady) || !AnyOf(growths, Growth::kIrregular)) break;
    }
    by_itself_.clear();
    long_ = SeenBy(counts);
    const auto growths = Growths(long_, SeriesLength::kFinal);
    if (AnyOf(growths, Growth::kSteady)) return Said::kGrows;
    return AnyOf(growths, Growth::kIrregular) ? Said::kUnconfirmed : Said::kPasses;
  }

  // As runs do for a quick test: 1,000 repetitions, a pause, and some more, up to three times.
  Said JudgeInTime() const {
    ModelProgram program(seed_);
    CountsByStack counts;
    const auto look = [&] { counts.Note(LiveIn(program.heap())); };
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) program.Repeat();
      look();
    };
    constexpr int kEach = 1000;
    constexpr int kMore = 60;
    repeat(1);
    FreedInTime freed = FreedInTime::kUnseen;
    for (std::size_t cycle = 0; cycle < kCyclePercent.size(); ++cycle) {
      const int each = kEach * static_cast<int>(kCyclePercent[cycle]) / 100;
      repeat(cycle == 0 ? kMore - 1 : kMore);
      repeat(each - kMore);
      program.Wait(6);
      look();
      repeat(kMore);
      const Seen seen = SeenBy(counts);
      freed = cycle == 0 ? JudgePauses(seen.all.total, GrowthIn(long_.all.total, kEach))
                         : FreedOf(seen, kEach);
      if (freed != FreedInTime::kPartly) break;
    }
    if (freed == FreedInTime::kMostly) return Said::kPasses;
    return freed == FreedInTime::kPartly ? Said::kUnconfirmed : Said::kGrows;
  }

  // Where a call site grows by itself, it is told; the sum is told where none does.
  FreedInTime FreedOf(const Seen& seen, int each) const {
    const FreedInTime of_sum = JudgePauses(seen.all.total, GrowthIn(long_.all.total, each));
    if (std::any_of(seen.by_stack.begin(), seen.by_stack.end(),
                    [](const auto& stack) { return Stays(stack.second); })) {
      return FreedInTime::kNot;
    }
    FreedInTime freed = of_sum;
    for (const std::string& stack : by_itself_) {
      const auto own = seen.by_stack.find(stack);
      if (own == seen.by_stack.end()) continue;
      const Amount expected = GrowthIn(long_.by_stack.at(stack), each);
      freed = LessOf(freed, JudgePauses(own->second, expected));
    }
    return freed;
  }

  const std::uint32_t seed_;
  std::set<std::string> asked_;
  Seen long_;                        // the long series
  std::set<std::string> by_itself_;  // stacks that grow in the long series
};

// What was said of programs, by whether that was right.
struct Row {
  int right = 0;
  int wrong = 0;
  int unconfirmed = 0;
};

struct Rates {
  std::map<std::string, Row> rows;  // "grows: by chance" and the like
  int growing = 0;
  int missed = 0;
  int growing_unconfirmed = 0;
  int bounded = 0;
  int false_alarms = 0;
  int bounded_unconfirmed = 0;
};

Rates RatesOf(int programs) {
  Rates rates;
  for (int seed = 1; seed <= programs; ++seed) {
    const ModelProgram program(static_cast<std::uint32_t>(seed));
    const Said said = ModelRun(static_cast<std::uint32_t>(seed)).Judge();
    const bool grows = program.grows();
    (grows ? rates.growing : rates.bounded) += 1;
    for (const std::string& name : program.rows()) {
      Row& row = rates.rows[(grows ? "grows: " : "bounded: ") + name];
      const bool is_right = (said == Said::kGrows) == grows;
      (said == Said::kUnconfirmed ? row.unconfirmed : is_right ? row.right : row.wrong) += 1;
    }
    if (said == Said::kUnconfirmed) {
      (grows ? rates.growing_unconfirmed : rates.bounded_unconfirmed) += 1;
    } else if ((said == Said::kGrows) != grows) {
      (grows ? rates.missed : rates.false_alarms) += 1;
      std::cout << (grows ? "missed: " : "false alarm: ") << seed << ": " << program.name() << "\n";
    }
    if (said == Said::kUnconfirmed && std::getenv("LEAKGATE_MODEL_PROGRAMS") != nullptr) {
      std::cout << (grows ? "unconfirmed leak: " : "unconfirmed clean: ") << seed << ": "
                << program.name() << "\n";
    }
  }
  return rates;
}

TEST(GrowthModelTest, MissesNoneAndRaisesNoFalseAlarm) {
  const char* const wanted = std::getenv("LEAKGATE_MODEL_PROGRAMS");
  const Rates rates = RatesOf(wanted != nullptr ? std::atoi(wanted) : 16);
  std::cout << rates.growing << " grow: " << rates.missed << " missed, "
            << rates.growing_unconfirmed << " unconfirmed; " << rates.bounded
            << " are bounded: " << rates.false_alarms << " false alarms, "
            << rates.bounded_unconfirmed << " unconfirmed\n";
  if (wanted != nullptr) {
    for (const auto& [name, row] : rates.rows) {
      std::cout << "| " << name << " | " << row.right << " | " << row.wrong << " | "
                << row.unconfirmed << " |\n";
    }
  }
  EXPECT_LE(rates.missed * 100, rates.growing);
  EXPECT_LE(rates.false_alarms * 200, rates.bounded);
  EXPECT_LE(rates.growing_unconfirmed * 10, rates.growing);
  EXPECT_LE(rates.bounded_unconfirmed * 20, rates.bounded);
}

}  // namespace
}  // namespace leakgate::test
