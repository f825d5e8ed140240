#include "runner/run/iteration_counts.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runner/judge/window_evidence.h"
#include "runner/report/left_behind_text.h"

namespace leakgate {
namespace {

std::size_t CountOtherThreads(const RegionReader& region, int asking_tid) {
  std::size_t count = 0;
  for (std::uint32_t id = 1; id < region.ThreadCount(); ++id) {
    const ThreadCopy thread = region.Thread(id);
    if (thread.tid != asking_tid && !thread.has_ended) ++count;
  }
  return count;
}

bool IsEqual(const Totals& a, const Totals& b) {
  return a.allocated_blocks == b.allocated_blocks && a.freed_blocks == b.freed_blocks;
}

// Waits until other threads have made no allocation for a moment, but a tenth of a second at most.
void WaitForQuiet(const RegionReader& region, int asking_tid) {
  using std::chrono::milliseconds;
  constexpr int kRounds = 20;
  if (CountOtherThreads(region, asking_tid) == 0) return;
  Totals before = region.CurrentTotals();
  for (int i = 0; i < kRounds; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    const Totals now = region.CurrentTotals();
    if (IsEqual(before, now)) return;
    before = now;
  }
}

// Threads that are about to end are waited for as long. Those of a leak sleep until the end.
void WaitForThreads(const RegionReader& region, int asking_tid, std::size_t wanted) {
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds && CountOtherThreads(region, asking_tid) > wanted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

constexpr std::uint32_t kProgramWindow = 1;

constexpr const char* kMappedPrefix = "mapped ";

Amount AmountOf(const std::map<std::uint32_t, Amount>& amounts, std::uint32_t stack) {
  const auto found = amounts.find(stack);
  return found == amounts.end() ? Amount{} : found->second;
}

std::int64_t CountOpen(int pid) {
  return static_cast<std::int64_t>(ReadResources(pid).file_descriptors.size());
}

}  // namespace

std::string SeriesKey(const Finding& finding) {
  return (IsMapped(finding) ? kMappedPrefix : "") + CallSiteKey(finding);
}

void CountsByStack::Note(const std::vector<Live>& live, std::uint32_t windows_end) {
  ByStack now;
  built_later_.clear();
  for (const Live& one : live) {
    now[one.stack] += Amount{static_cast<std::int64_t>(one.size_bytes), 1};
    if (one.window != kProgramWindow) stacks_of_tests_.insert(one.stack);
    if (one.window >= windows_end) built_later_.insert(one.stack);
  }
  if (has_begun_) {
    ByStack& net = nets_.emplace_back();
    for (const auto& [stack, amount] : now) {
      const Amount change = amount - AmountOf(last_, stack);
      if (change != Amount{}) net[stack] = change;
    }
    for (const auto& [stack, amount] : last_) {
      if (!now.contains(stack)) net[stack] = Amount{} - amount;
    }
  }
  last_ = std::move(now);
  has_begun_ = true;
}

std::set<std::uint32_t> CountsByStack::FindRelevantStacks() const {
  std::set<std::uint32_t> stacks = stacks_of_tests_;
  for (const ByStack& net : nets_) {
    for (const auto& [stack, change] : net) stacks.insert(stack);
  }
  return stacks;
}

RepetitionSeries CountsByStack::SeriesOf(std::uint32_t stack) const {
  RepetitionSeries series;
  for (const ByStack& net : nets_) {
    const Amount change = AmountOf(net, stack);
    series.blocks.push_back(change.blocks);
    series.bytes.push_back(change.bytes);
  }
  series.is_built_once = !built_later_.contains(stack);
  return series;
}

IterationCounts::IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer,
                                 std::mutex& mutex, CountDescriptors descriptors, AtEnd at_end)
    : region_(std::move(region)),
      symbolizer_(symbolizer),
      mutex_(mutex),
      at_end_(std::move(at_end)),
      sites_([this](std::uint32_t stack) {
        return SymboliseStack(region_->reader(), stack, symbolizer_);
      }),
      meter_(region_->reader(), symbolizer, MeasurementTextHere),
      snapshots_(region_->reader()),
      counts_descriptors_(descriptors),
      server_(region_->mailbox(), [this](Mailbox& mailbox) { Answer(mailbox); }) {
  const bool counts_them = descriptors == CountDescriptors::kYes;
  region_->Ask(kAskAtIterationEnd | (counts_them ? kAskAtTestBegin | kAskAtTestEnd : 0));
}

bool IterationCounts::RunsTests() const {
  for (std::uint32_t id = 1; id < region().WindowCount(); ++id) {
    if (region().Window(id).kind == WindowKind::kTest) return true;
  }
  return false;
}

void IterationCounts::Answer(Mailbox& mailbox) {
  const std::lock_guard lock(mutex_);
  AnswerNothing(mailbox);
  if (meter_.Answer(mailbox) || snapshots_.Answer(mailbox)) return;
  const auto question = static_cast<Question>(mailbox.question);
  if (counts_descriptors_ == CountDescriptors::kYes) {
    if (question == Question::kTestBegins) at_test_begin_ = ReadResources(region().Pid());
    const WindowCopy window = region().Window(mailbox.window);
    const bool is_test = window.kind == WindowKind::kTest;
    if (question == Question::kJudge && is_test) NoteTestEnd(window.name);
  }
  if (question != Question::kIterationEnds) return;
  Count(mailbox.tid);
  at_end_(*this);
}

void IterationCounts::Count(int asking_tid) {
  WaitForQuiet(region(), asking_tid);
  if (first_windows_end_ == 0) first_windows_end_ = region().WindowCount();
  CountMappings(asking_tid);
  if (counts_descriptors_ == CountDescriptors::kYes) CountDescriptorsNow(asking_tid);
  std::vector<CountsByStack::Live> live;
  const Expected<HeapCopy> heap = region().CopyHeap();
  if (heap) {
    live.reserve(heap->blocks.size());
    for (const LiveBlock& block : heap->blocks) {
      live.push_back({block.stack, block.window, block.size_bytes});
    }
  }
  blocks_.Note(live, first_windows_end_);
  earlier_frees_ = region().EarlierFreeCount();
  ++ended_;
}

void IterationCounts::CountMappings(int asking_tid) {
  if (ended_ > 0) WaitForThreads(region(), asking_tid, last_threads_);
  last_threads_ = CountOtherThreads(region(), asking_tid);
  std::vector<CountsByStack::Live> live;
  for (const MappingCopy& mapping : region().Mappings()) {
    if (IsReserved(mapping)) continue;
    live.push_back({mapping.stack, mapping.window, mapping.size_bytes});
  }
  mappings_.Note(live, first_windows_end_);
}

void IterationCounts::NoteTestEnd(const std::string& test) {
  ResourcesLeft left = LeftBetween(at_test_begin_, ReadResources(region().Pid()));
  left_by_tests_ += left.file_descriptors;
  if (left.file_descriptors > 0) tests_with_descriptors_.insert(test);
  const bool is_second = ended_ == 1;
  if (is_second) descriptors_left_ = std::move(left);
}

// Only what the test has left and the iteration's end has not closed. Another thread may be about
// to close it.
void IterationCounts::CountDescriptorsNow(int asking_tid) {
  constexpr int kRounds = 4;
  const int pid = region().Pid();
  std::int64_t now = CountOpen(pid);
  const bool may_close = ended_ > 0 && CountOtherThreads(region(), asking_tid) != 0;
  for (int i = 0; may_close && i < kRounds && now > last_descriptors_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    now = CountOpen(pid);
  }
  if (ended_ > 0) {
    const std::int64_t change = now - last_descriptors_;
    descriptors_.blocks.push_back(std::min(change, std::max<std::int64_t>(left_by_tests_, 0)));
    descriptors_.bytes.push_back(0);
  }
  last_descriptors_ = now;
  left_by_tests_ = 0;
}

void IterationCounts::AddSeriesOf(const CountsByStack& counts, const std::string& prefix,
                                  const std::set<std::string>& call_sites, SeriesBySite& series) {
  for (const std::uint32_t stack : counts.FindRelevantStacks()) {
    const CallSite& site = sites_.Of(stack);
    const std::string key = prefix + CallSiteKey(site.finding);
    if (!IsUsers(site.finding) || !call_sites.contains(key)) continue;
    AddSeries(counts.SeriesOf(stack), series[key][site.text]);
  }
}

std::optional<std::set<std::string>> IterationCounts::StacksFreedLater() {
  if (earlier_frees_ > kMaxEarlierFrees) return std::nullopt;
  std::vector<EarlierFreeCopy> frees = region().EarlierFrees(0);
  frees.resize(std::min<std::size_t>(frees.size(), earlier_frees_));
  std::set<std::uint32_t> stacks;
  for (const EarlierFreeCopy& free : frees) stacks.insert(free.stack);
  std::set<std::string> texts;
  for (const std::uint32_t stack : stacks) texts.insert(sites_.Of(stack).text);
  return texts;
}

SeriesBySite IterationCounts::SeriesOf(const std::set<std::string>& call_sites) {
  SeriesBySite series;
  AddSeriesOf(blocks_, "", call_sites, series);
  AddSeriesOf(mappings_, kMappedPrefix, call_sites, series);
  if (call_sites.contains(kDescriptorsKey)) series[kDescriptorsKey][""] = descriptors_;
  return series;
}

}  // namespace leakgate
