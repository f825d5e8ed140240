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

std::int64_t BlocksIn(const std::map<std::uint32_t, std::int64_t>& count, std::uint32_t stack) {
  const auto found = count.find(stack);
  return found == count.end() ? 0 : found->second;
}

}  // namespace

IterationCounts::IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer)
    : region_(std::move(region)),
      symbolizer_(symbolizer),
      meter_(region_->reader(), symbolizer, MeasurementTextHere),
      snapshots_(region_->reader()),
      server_(region_->mailbox(), [this](Mailbox& mailbox) { Answer(mailbox); }) {
  region_->Ask(kAskAtIterationEnd);
}

void IterationCounts::Answer(Mailbox& mailbox) {
  AnswerNothing(mailbox);
  if (meter_.Answer(mailbox) || snapshots_.Answer(mailbox)) return;
  const bool is_end = mailbox.question == static_cast<std::uint32_t>(Question::kIterationEnds);
  if (is_end) Count(mailbox.tid);
}

void IterationCounts::Count(int asking_tid) {
  WaitForQuiet(region(), asking_tid);
  const Expected<HeapCopy> heap = region().CopyHeap();
  ByStack count;
  if (heap) {
    for (const LiveBlock& block : heap->blocks) {
      ++count[block.stack];
      if (block.window != kProgramWindow) stacks_of_tests_.insert(block.stack);
    }
  }
  counts_.push_back(std::move(count));
}

int IterationCounts::CountIterations() {
  server_.Stop();
  return static_cast<int>(counts_.size());
}

// Returns the stacks of tests and suites, and those whose counts changed. The program may have
// built a lot before its first test, which is the same in all iterations.
std::set<std::uint32_t> IterationCounts::FindRelevantStacks() const {
  std::set<std::uint32_t> stacks = stacks_of_tests_;
  for (std::size_t i = 1; i < counts_.size(); ++i) {
    for (const auto& [stack, blocks] : counts_[i]) {
      if (BlocksIn(counts_[i - 1], stack) != blocks) stacks.insert(stack);
    }
    for (const auto& [stack, blocks] : counts_[i - 1]) {
      if (!counts_[i].contains(stack)) stacks.insert(stack);
    }
  }
  return stacks;
}

std::map<std::string, std::vector<std::int64_t>> IterationCounts::SeriesOf(
    const std::set<std::string>& call_sites) {
  server_.Stop();
  CallSites sites(
      [&](std::uint32_t stack) { return SymboliseStack(region(), stack, symbolizer_); });
  std::map<std::string, std::vector<std::int64_t>> series;
  for (const std::uint32_t stack : FindRelevantStacks()) {
    const Finding& site = sites.Of(stack).finding;
    const std::string key = CallSiteKey(site);
    if (!IsUsers(site) || !call_sites.contains(key)) continue;
    std::vector<std::int64_t>& net = series[key];
    net.resize(counts_.size() - 1);
    for (std::size_t i = 1; i < counts_.size(); ++i) {
      net[i - 1] += BlocksIn(counts_[i], stack) - BlocksIn(counts_[i - 1], stack);
    }
  }
  return series;
}

}  // namespace leakgate
