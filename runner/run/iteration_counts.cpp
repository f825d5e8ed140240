#include "runner/run/iteration_counts.h"

#include <chrono>
#include <thread>

#include "runner/judge/window_evidence.h"
#include "runner/report/left_behind_text.h"

namespace leakgate {
namespace {

bool HasOtherThreads(const RegionReader& region, int asking_tid) {
  for (std::uint32_t id = 1; id < region.ThreadCount(); ++id) {
    const ThreadCopy thread = region.Thread(id);
    if (thread.tid != asking_tid && !thread.has_ended) return true;
  }
  return false;
}

bool IsEqual(const Totals& a, const Totals& b) {
  return a.allocated_blocks == b.allocated_blocks && a.freed_blocks == b.freed_blocks;
}

// Waits until other threads have made no allocation for a moment, but a tenth of a second at most.
void WaitForQuiet(const RegionReader& region, int asking_tid) {
  using std::chrono::milliseconds;
  constexpr int kRounds = 20;
  if (!HasOtherThreads(region, asking_tid)) return;
  Totals before = region.CurrentTotals();
  for (int i = 0; i < kRounds; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    const Totals now = region.CurrentTotals();
    if (IsEqual(before, now)) return;
    before = now;
  }
}

constexpr std::uint32_t kProgramWindow = 1;

Amount AmountOf(const std::map<std::uint32_t, Amount>& amounts, std::uint32_t stack) {
  const auto found = amounts.find(stack);
  return found == amounts.end() ? Amount{} : found->second;
}

}  // namespace

IterationCounts::IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer,
                                 AtEnd at_end)
    : region_(std::move(region)),
      symbolizer_(symbolizer),
      at_end_(std::move(at_end)),
      sites_([this](std::uint32_t stack) {
        return SymboliseStack(region_->reader(), stack, symbolizer_);
      }),
      meter_(region_->reader(), symbolizer, MeasurementTextHere),
      snapshots_(region_->reader()),
      server_(region_->mailbox(), [this](Mailbox& mailbox) { Answer(mailbox); }) {
  region_->Ask(kAskAtIterationEnd);
}

void IterationCounts::Answer(Mailbox& mailbox) {
  AnswerNothing(mailbox);
  if (meter_.Answer(mailbox) || snapshots_.Answer(mailbox)) return;
  const bool is_end = mailbox.question == static_cast<std::uint32_t>(Question::kIterationEnds);
  if (!is_end) return;
  Count(mailbox.tid);
  at_end_(*this);
}

void IterationCounts::Count(int asking_tid) {
  WaitForQuiet(region(), asking_tid);
  const Expected<HeapCopy> heap = region().CopyHeap();
  if (first_windows_end_ == 0) first_windows_end_ = region().WindowCount();
  ByStack live;
  built_later_.clear();
  if (heap) {
    for (const LiveBlock& block : heap->blocks) {
      live[block.stack] += Amount{static_cast<std::int64_t>(block.size_bytes), 1};
      if (block.window != kProgramWindow) stacks_of_tests_.insert(block.stack);
      if (block.window >= first_windows_end_) built_later_.insert(block.stack);
    }
  }
  if (ended_ > 0) {
    ByStack& net = nets_.emplace_back();
    for (const auto& [stack, amount] : live) {
      const Amount change = amount - AmountOf(last_, stack);
      if (change != Amount{}) net[stack] = change;
    }
    for (const auto& [stack, amount] : last_) {
      if (!live.contains(stack)) net[stack] = Amount{} - amount;
    }
  }
  last_ = std::move(live);
  ++ended_;
}

// Returns the stacks of tests and suites, and those whose counts changed. The program may have
// built a lot before its first test, which is the same in all iterations.
std::set<std::uint32_t> IterationCounts::FindRelevantStacks() const {
  std::set<std::uint32_t> stacks = stacks_of_tests_;
  for (const ByStack& net : nets_) {
    for (const auto& [stack, change] : net) stacks.insert(stack);
  }
  return stacks;
}

RepetitionSeries IterationCounts::SeriesOfStack(std::uint32_t stack) const {
  RepetitionSeries series;
  for (const ByStack& net : nets_) {
    const Amount change = AmountOf(net, stack);
    series.blocks.push_back(change.blocks);
    series.bytes.push_back(change.bytes);
  }
  series.is_built_once = !built_later_.contains(stack);
  return series;
}

SeriesBySite IterationCounts::SeriesOf(const std::set<std::string>& call_sites) {
  SeriesBySite series;
  for (const std::uint32_t stack : FindRelevantStacks()) {
    const CallSite& site = sites_.Of(stack);
    const std::string key = CallSiteKey(site.finding);
    if (!IsUsers(site.finding) || !call_sites.contains(key)) continue;
    AddSeries(SeriesOfStack(stack), series[key][site.text]);
  }
  return series;
}

}  // namespace leakgate
