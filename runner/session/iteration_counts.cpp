#include "runner/session/iteration_counts.h"

#include <chrono>
#include <thread>

#include "runner/session/symbolise_stack.h"

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

// Gives other threads time to end their work: until they have been quiet for a
// moment, a tenth of a second at most.
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

}  // namespace

IterationCounts::IterationCounts(std::unique_ptr<RegionFile> region)
    : region_(std::move(region)), server_(region_->mailbox(), [this](Mailbox& mailbox) {
        AnswerNothing(mailbox);
        const bool is_end =
            mailbox.question == static_cast<std::uint32_t>(Question::kIterationEnds);
        if (is_end) Count(mailbox.tid);
      }) {
  region_->Ask(kAskAtIterationEnd);
}

void IterationCounts::Count(int asking_tid) {
  WaitForQuiet(region(), asking_tid);
  const Expected<HeapCopy> heap = region().CopyHeap();
  ByStack count;
  if (heap) {
    for (const LiveBlock& block : heap->blocks) ++count[block.stack];
  }
  counts_.push_back(std::move(count));
}

int IterationCounts::Iterations() {
  server_.Stop();
  return static_cast<int>(counts_.size());
}

std::map<std::string, std::vector<std::int64_t>> IterationCounts::SeriesOf(
    const std::set<std::string>& call_sites, Symbolizer& symbolizer) {
  server_.Stop();
  std::set<std::uint32_t> stacks;
  for (const ByStack& count : counts_) {
    for (const auto& [stack, blocks] : count) stacks.insert(stack);
  }
  CallSites sites([&](std::uint32_t stack) { return SymboliseStack(region(), stack, symbolizer); });
  std::map<std::string, std::vector<std::int64_t>> series;
  for (const std::uint32_t stack : stacks) {
    const Finding& site = sites.Of(stack).finding;
    const std::string key = CallSiteKey(site);
    if (!IsUsers(site) || !call_sites.contains(key)) continue;
    std::vector<std::int64_t>& net = series[key];
    net.resize(counts_.size() - 1);
    for (std::size_t i = 1; i < counts_.size(); ++i) {
      const auto blocks_in = [&](const ByStack& count) {
        const auto found = count.find(stack);
        return found == count.end() ? 0 : found->second;
      };
      net[i - 1] += blocks_in(counts_[i]) - blocks_in(counts_[i - 1]);
    }
  }
  return series;
}

}  // namespace leakgate
