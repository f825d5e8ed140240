#include "runner/run/iteration_counts.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runner/judge/window_evidence.h"
#include "runner/reach/find_reach.h"
#include "runner/region/judged_mappings.h"

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

std::int64_t CountOpen(int pid) {
  return static_cast<std::int64_t>(ReadResources(pid).file_descriptors.size());
}

}  // namespace

std::string SeriesKey(const Finding& finding) {
  return (IsMapped(finding) ? kMappedPrefix : "") + CallSiteKey(finding);
}

IterationCounts::IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer,
                                 std::mutex& mutex, CountDescriptors descriptors,
                                 const MakeAnswerer& answer_more, AtEnd at_end)
    // The test's own assertions must give the same results as in the suite's run.
    : image_({.region = std::move(region),
              .symbolizer = symbolizer,
              .profiler = answer_more,
              .answer = [this](Mailbox& mailbox) { Answer(mailbox); },
              .program = ExecutedProgram{},
              .watches_end = WatchesEnd::kNo}),
      symbolizer_(symbolizer),
      mutex_(mutex),
      at_end_(std::move(at_end)),
      sites_([this](std::uint32_t stack) {
        return SymboliseStack(image_.region(), stack, symbolizer_);
      }),
      counts_descriptors_(descriptors) {
  const bool counts_them = descriptors == CountDescriptors::kYes;
  image_.region_file().Ask(kAskAtIterationEnd | kAskNoVerdicts |
                           (counts_them ? kAskAtTestBegin | kAskAtTestEnd : 0));
}

bool IterationCounts::RunsTests() const {
  for (std::uint32_t id = 1; id < region().WindowCount(); ++id) {
    if (region().Window(id).kind == WindowKind::kTest) return true;
  }
  return false;
}

void IterationCounts::Answer(Mailbox& mailbox) {
  const std::lock_guard lock(mutex_);
  if (image_.AnswerCommon(mailbox)) return;
  const auto question = static_cast<Question>(mailbox.question);
  if (counts_descriptors_ == CountDescriptors::kYes) {
    if (question == Question::kTestBegins) at_test_begin_ = ReadResources(region().Pid());
    const WindowCopy window = region().Window(mailbox.window);
    const bool is_test = window.kind == WindowKind::kTest;
    if (question == Question::kJudge && is_test) NoteTestEnd(window.name);
  }
  if (question != Question::kIterationEnds) return;
  const int before = std::exchange(ended_, static_cast<int>(mailbox.iteration));
  NoteTimeOf(ended_ - before);
  if (IsLookedAt(ended_)) {
    asking_tid_ = mailbox.tid;
    Count(asking_tid_);
    if (ended_ == last_iteration_) FindFates();
    at_end_(*this);
  }
  AskForNext();
  goes_on_at_ = std::chrono::steady_clock::now();
}

void IterationCounts::NoteTimeOf(int iterations) {
  if (!goes_on_at_ || iterations <= 0) return;
  times_.push_back((std::chrono::steady_clock::now() - *goes_on_at_) / iterations);
}

std::chrono::nanoseconds IterationCounts::TimeOfIteration(std::size_t last) const {
  const auto begin = times_.end() - static_cast<std::ptrdiff_t>(std::min(last, times_.size()));
  const auto quickest = std::min_element(begin, times_.end());
  return quickest == times_.end() ? std::chrono::nanoseconds(0) : *quickest;
}

void IterationCounts::FindFates() {
  // Names are read only where there may be a block of each repetition.
  if (fates_asked_.empty() || later_blocks_ < ended_ - 1) return;
  const Expected<HeapCopy> heap = region().CopyHeap();
  if (!heap) return;
  struct OfStack {
    std::int64_t blocks = 0;
    std::int64_t lost = 0;
    std::set<std::uint32_t> led_by{};  // stacks; 0: none
  };
  std::vector<LiveBlock> candidates;
  std::map<std::string, OfStack> by_stack;
  for (const LiveBlock& block : heap->blocks) {
    // Repeating makes none of what was made before all tests, such as by a thousand initialisers.
    if (block.window == kProgramWindow) continue;
    const std::string& stack = sites_.Of(block.stack).text;
    if (!fates_asked_.contains(stack)) continue;
    candidates.push_back(block);
    ++by_stack[stack].blocks;
  }
  const auto grows = [&](const LiveBlock& block) {
    return by_stack[sites_.Of(block.stack).text].blocks >= ended_;
  };
  std::erase_if(candidates, [&](const LiveBlock& block) { return !grows(block); });
  if (candidates.empty()) return;
  Variables unnamed;
  const auto reaches = FindReach({.pid = region().Pid(),
                                  .region = region(),
                                  .candidates = candidates,
                                  .variables = unnamed,
                                  .names_holder = [](const LiveBlock&) { return true; },
                                  .asking_tid = asking_tid_});
  if (!reaches) return;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string& stack = sites_.Of(candidates[i].stack).text;
    const HolderChain* const holder = (*reaches)[i].holder.get();
    if (IsLost((*reaches)[i].reach)) {
      const LostWith* const with = (*reaches)[i].lost_with.get();
      ++by_stack[stack].lost;
      by_stack[stack].led_by.insert(with != nullptr ? with->root.stack : 0);
    }
    if (holder != nullptr && holder->is_in_queue) fates_.queued.emplace(stack, holder->root);
  }
  // All but those of the last iteration, which may still be held, and of one that a stale word
  // holds.
  for (const auto& [stack, of_stack] : by_stack) {
    const bool is_lost =
        of_stack.blocks >= ended_ && of_stack.lost * ended_ >= of_stack.blocks * (ended_ - 2);
    if (!is_lost) continue;
    const std::uint32_t led_by = of_stack.led_by.size() == 1 ? *of_stack.led_by.begin() : 0;
    fates_.lost.emplace(stack, led_by != 0 ? sites_.Of(led_by).text.get() : std::string());
  }
}

bool IterationCounts::IsLookedAt(int iteration) const {
  if (!look_after_.empty()) return look_after_.contains(iteration);
  return static_cast<std::size_t>(iteration - 1) % blocks_.stride() == 0;
}

void IterationCounts::AskForNext() {
  int next = ended_ + 1;
  while (next < last_iteration_ && !IsLookedAt(next)) ++next;
  image_.region_file().AskFromIteration(static_cast<std::uint32_t>(next));
}

std::chrono::nanoseconds IterationCounts::TimeOfTests(int last) const {
  std::map<int, std::chrono::nanoseconds> times;
  for (std::uint32_t id = region().WindowCount(); id-- > 1;) {
    const WindowCopy window = region().Window(id);
    if (window.kind != WindowKind::kTest || window.state != WindowState::kClosed) continue;
    if (window.iteration <= ended_ - last) break;
    times[window.iteration] += std::chrono::nanoseconds(window.end_time_ns - window.begin_time_ns);
  }
  const auto is_quicker = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto quickest = std::min_element(times.begin(), times.end(), is_quicker);
  return quickest == times.end() ? std::chrono::nanoseconds(0) : quickest->second;
}

// Windows of tests that ended since the last look.
void IterationCounts::NoteTests() {
  for (auto id = static_cast<std::uint32_t>(tests_.size()); id < region().WindowCount(); ++id) {
    tests_.push_back(kOfNobody);
    const WindowCopy window = region().Window(id);
    if (id == 0 || window.kind != WindowKind::kTest) continue;
    const auto number = static_cast<std::uint32_t>(kFirstTest + numbers_.size());
    tests_.back() = numbers_.try_emplace(window.name, number).first->second;
  }
}

void IterationCounts::Count(int asking_tid) {
  WaitForQuiet(region(), asking_tid);
  if (first_windows_end_ == 0) first_windows_end_ = region().WindowCount();
  NoteTests();
  CountMappings(asking_tid);
  if (counts_descriptors_ == CountDescriptors::kYes) CountDescriptorsNow(asking_tid);
  std::vector<CountsByStack::Live> live;
  later_blocks_ = 0;
  const Expected<std::vector<LiveSum>> sums = region().SumBlocks();
  const std::vector<bool> ignored = region().IgnoredAllowances();
  for (std::size_t i = 0; sums && i < sums->size(); ++i) {
    const LiveSum& sum = (*sums)[i];
    if (sum.allowance < ignored.size() && ignored[sum.allowance]) continue;
    live.push_back({.stack = sum.stack,
                    .test = SourceOf(sum.window, sum.allowance),
                    .amount = sum.amount,
                    .is_of_tests = sum.window != kProgramWindow,
                    .is_later = sum.window >= first_windows_end_});
    if (live.back().is_later) later_blocks_ += sum.amount.blocks;
  }
  blocks_.Note(live);
  earlier_frees_ = region().EarlierFreeCount();
  ++looks_;
}

std::uint32_t IterationCounts::SourceOf(std::uint32_t window, std::uint32_t allowance) const {
  if (allowance != 0) return kOfNobody;
  if (window < tests_.size() && tests_[window] != kOfNobody) return tests_[window];
  const bool is_of_first_suites = window != kProgramWindow && window < first_windows_end_;
  return is_of_first_suites ? kOfBegin : kOfNobody;
}

void IterationCounts::CountMappings(int asking_tid) {
  if (looks_ > 0) WaitForThreads(region(), asking_tid, last_threads_);
  last_threads_ = CountOtherThreads(region(), asking_tid);
  std::vector<CountsByStack::Live> live;
  for (const MappingCopy& mapping : JudgedMappings(region())) {
    if (IsReserved(mapping)) continue;
    live.push_back({.stack = mapping.stack,
                    .amount = {static_cast<std::int64_t>(mapping.size_bytes), 1},
                    .is_of_tests = mapping.window != kProgramWindow,
                    .is_later = mapping.window >= first_windows_end_});
  }
  mappings_.Note(live);
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
  const bool may_close = looks_ > 0 && CountOtherThreads(region(), asking_tid) != 0;
  for (int i = 0; may_close && i < kRounds && now > last_descriptors_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    now = CountOpen(pid);
  }
  if (looks_ > 0) {
    const std::int64_t change = now - last_descriptors_;
    descriptors_.blocks.push_back(std::min(change, std::max<std::int64_t>(left_by_tests_, 0)));
    descriptors_.bytes.push_back(0);
  }
  last_descriptors_ = now;
  left_by_tests_ = 0;
  if (descriptors_.blocks.size() < kMostLooks) return;
  HalveLooks(descriptors_.blocks);
  HalveLooks(descriptors_.bytes);
  descriptors_.stride *= 2;
}

void IterationCounts::AddSeriesOf(const CountsByStack& counts, const std::string& prefix,
                                  const std::set<std::string>& call_sites, SeriesBySite& series) {
  for (auto& [stack, of_stack] : counts.AllSeries()) {
    const CallSite& site = sites_.Of(stack);
    const std::string key = prefix + CallSiteKey(site.finding);
    if (!IsUsers(site.finding) || !call_sites.contains(key)) continue;
    if (site.finding.kind == AllocationKind::kThreadStack) of_stack.beyond = kBeyondFew;
    if (!look_after_.empty()) of_stack.repetitions = static_cast<std::size_t>(ended_);
    AddSeries(of_stack, series[key][site.text]);
  }
}

AllGrowth IterationCounts::GrowthOfAll(const CountsInSum& counts) {
  return SumOf(blocks_.AllSeries([](std::uint32_t source) { return source != kOfNobody; }), counts);
}

std::map<std::string, GrowthOfTest> IterationCounts::GrowthByTest(
    const std::map<std::string, CountsInSum>& tests) {
  std::map<std::string, GrowthOfTest> growth;
  const auto by_test = blocks_.SeriesByTest();
  for (const auto& [test, counts] : tests) {
    const auto number = numbers_.find(test);
    const auto made = number == numbers_.end() ? by_test.end() : by_test.find(number->second);
    if (made == by_test.end()) continue;
    GrowthOfTest& of_test = growth[test];
    of_test.all = SumOf(made->second, counts);
    for (const auto& [stack, series] : made->second) {
      const CallSite& site = sites_.Of(stack);
      if (!IsUsers(site.finding)) continue;
      AddSeries(series, of_test.series[SeriesKey(site.finding)][site.text]);
    }
  }
  return growth;
}

AllGrowth IterationCounts::SumOf(const std::map<std::uint32_t, RepetitionSeries>& by_stack,
                                 const CountsInSum& counts) {
  AllGrowth all;
  std::map<std::string, GrowthShare> shares;
  std::map<std::string, std::int64_t> most;  // the growth of the stack that a share names
  for (const auto& [stack, series] : by_stack) {
    const Finding& finding = sites_.Of(stack).finding;
    if (!IsUsers(finding) || !counts(finding)) continue;
    AddSeries(series, all.total);
    const auto [growth, blocks] = GrowthOf(series);
    all.fallen += {std::max<std::int64_t>(-growth, 0), std::max<std::int64_t>(-blocks, 0)};
    const auto [share, is_new] = shares.try_emplace(SeriesKey(finding));
    AddSeries(series, share->second.series);
    std::int64_t& most_of_site = most.try_emplace(share->first, growth).first->second;
    if (!is_new && growth <= most_of_site) continue;
    most_of_site = growth;
    share->second.site = share->first;
    share->second.finding = finding;
  }
  for (auto& [site, share] : shares) {
    if (GrowthOf(share.series).bytes > 0) all.shares.push_back(std::move(share));
  }
  std::stable_sort(all.shares.begin(), all.shares.end(),
                   [](const GrowthShare& a, const GrowthShare& b) {
                     return GrowthOf(a.series).bytes > GrowthOf(b.series).bytes;
                   });
  return all;
}

std::set<std::string> IterationCounts::FindUnsettledTests() {
  std::set<std::uint32_t> unsettled;
  for (const auto& [source, stack] : blocks_.FindChanged()) {
    if (source >= kFirstTest && IsUsers(sites_.Of(stack).finding)) unsettled.insert(source);
  }
  std::set<std::string> tests;
  for (const auto& [name, number] : numbers_) {
    if (unsettled.contains(number)) tests.insert(name);
  }
  return tests;
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
  if (call_sites.contains(kDescriptorsKey)) {
    series[kDescriptorsKey][""] = descriptors_;
    series[kDescriptorsKey][""].beyond = kBeyondFew;
  }
  return series;
}

}  // namespace leakgate
