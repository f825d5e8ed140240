// What of a test is repeated: the call stacks that only a repetition can tell from a leak, and how
// the test's first run says that it may be repeated. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "runner/result/run_result.h"
#include "runner/run/iteration_counts.h"

namespace leakgate {

// A call site, by SeriesKey, and a whole stack of it, by CallStackKey.
struct AskedStack {
  std::string site;
  std::string stack;
  std::string keeper{};  // as Finding::keeper

  friend auto operator<=>(const AskedStack&, const AskedStack&) = default;
};
using AskedStacks = std::set<AskedStack>;

[[nodiscard]] AskedStack AskedOf(const Finding& finding);
// Returns what stands for the descriptors that a test leaves open.
[[nodiscard]] const AskedStack& AskedDescriptors();

// Returns whether a repetition is to tell what `finding`, one of the window's, is. The stacks that
// a finding sums up are not told apart: it stays unconfirmed.
[[nodiscard]] bool IsToBeRepeated(const WindowResult& window, const Finding& finding);

// Returns all that is to be repeated of the window.
[[nodiscard]] AskedStacks FindOpenStacks(const WindowResult& window);

// Returns those of `asked` whose growth proves nothing against the test.
// - What a set-up's repetition loses. Where SetUpTestSuite has no counterpart, say, each repetition
//   makes the suite's object anew, and loses the old one with what the test has built in it. In the
//   suite's run there is one such object.
// - What waits in a queue of the kernel's. In the suite's run, another test may take it.
[[nodiscard]] AskedStacks FindExcused(const AskedStacks& asked, const BlockFates& fates);

[[nodiscard]] AskedStacks Without(const AskedStacks& asked, const AskedStacks& left_out);
[[nodiscard]] std::set<std::string> SitesOf(const AskedStacks& asked);
[[nodiscard]] std::set<std::string> StacksOf(const AskedStacks& asked);
// Returns the stacks, and those of what keeps their blocks.
[[nodiscard]] std::set<std::string> StacksWithKeepers(const AskedStacks& asked);

// Quick tests are repeated more often, which shows what grows more seldom.
inline constexpr int kMostQuickRepetitions = 20;
// Bytes. No more are kept for a series, where few repetitions tell.
inline constexpr std::int64_t kMuchMemory = std::int64_t{2} << 30;
// So that one slow test does not take the time of all. What it has shown until then counts.
inline constexpr std::chrono::milliseconds kLongestSeries = std::chrono::seconds(20);

// Returns how many repetitions the first series has, by how long the test took in the suite's run.
[[nodiscard]] int CountFirstRepetitions(const WindowResult& window);

// Returns whether not even the longest series of the test has 64 repetitions, as growing threads
// need to fail.
[[nodiscard]] bool IsSlow(const WindowResult& window);

// Returns whether the test may be repeated in one process with others. Of slower tests, the
// repetitions take longer than to start a process. What may fail, and what is about threads,
// mappings and descriptors, is repeated alone.
[[nodiscard]] bool MayShareProcess(const WindowResult& window);

// Returns whether only threads and what is theirs are to be repeated.
[[nodiscard]] bool LeavesThreadsAlone(const WindowResult& window);

}  // namespace leakgate
