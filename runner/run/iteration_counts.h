// Counts what one traced image holds at the end of its iterations, while the process waits: live
// blocks, mappings and threads' stacks by call stack, and open descriptors. It looks at the end of
// each iteration at first, and of ever fewer later (counts_by_stack.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/host/traced_image.h"
#include "runner/judge/all_growth.h"
#include "runner/judge/repetition_series.h"
#include "runner/process/proc_files.h"
#include "runner/run/counts_by_stack.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// The series of call sites, by SeriesKey, and that of descriptors, by kDescriptorsKey.
using SeriesBySite = std::map<std::string, SeriesByStack>;

// Returns a text that tells call sites apart, and their blocks from their mappings.
[[nodiscard]] std::string SeriesKey(const Finding& finding);

// Stands for all descriptors, which have no call stack.
inline constexpr const char* kDescriptorsKey = "file descriptors";

// What one of several tests of a process has made.
struct GrowthOfTest {
  AllGrowth all;
  SeriesBySite series;  // of blocks
};

// What became of the blocks that each repetition made anew, by CallStackKey.
struct BlockFates {
  // All but those of the last repetitions are; and the stack of the block with which all of them
  // are lost, if there is one.
  std::map<std::string, std::string> lost;
  // They wait in a queue of the kernel's, such as a pipe, and by its name.
  std::map<std::string, std::string> queued;
};

enum class CountDescriptors { kNo, kYes };

class IterationCounts {
 public:
  // Called after each look, while the process waits, on a thread of the counts' own.
  using AtEnd = std::function<void(IterationCounts& counts)>;

  // `symbolizer` must outlive this object; nobody else may use it until the process has ended, but
  // for other images of the repetitions: `mutex`, which is theirs, too, is locked meanwhile.
  IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer, std::mutex& mutex,
                  CountDescriptors descriptors, const MakeAnswerer& answer_more, AtEnd at_end);
  ~IterationCounts() { image_.StopAnswering(); }
  IterationCounts(const IterationCounts&) = delete;
  IterationCounts& operator=(const IterationCounts&) = delete;

  // Looks at the end of these iterations alone, unless there are none, and asks at that of `last`
  // in any case. REQUIRES: the process does not run yet.
  void LookOnlyAfter(std::set<int> iterations, int last) {
    look_after_ = std::move(iterations);
    last_iteration_ = last;
  }

  // Looks for the last time after this iteration. REQUIRES: called by AtEnd, and it has not ended.
  void LookLastAfter(int iteration) {
    look_after_.insert(iteration);
    last_iteration_ = iteration;
  }

  // Returns how long an iteration's tests took, in the quickest of the `last` iterations: in
  // others, they may have had to wait for a processor. REQUIRES: called by AtEnd, and `last` is not
  // 0.
  [[nodiscard]] std::chrono::nanoseconds TimeOfTests(int last) const;

  // Returns how long the process ran for an iteration, set-up and tear-down included, in the
  // quickest of the `last` looked-at ones. REQUIRES: likewise.
  [[nodiscard]] std::chrono::nanoseconds TimeOfIteration(std::size_t last) const;

  // Finds out at the end of the last iteration what became of the blocks that each iteration made
  // anew by these call stacks, which are told by CallStackKey. REQUIRES: likewise.
  void FindFatesOf(std::set<std::string> stacks) { fates_asked_ = std::move(stacks); }

  // Finds it out now, since no iteration follows. REQUIRES: called by AtEnd.
  void FindFates();

  const RegionReader& region() const { return image_.region(); }
  int region_fd() const { return image_.region_fd(); }

  // Stops counting. REQUIRES: the process has ended.
  void Stop() { image_.StopAnswering(); }

  // Returns whether a test has begun.
  [[nodiscard]] bool RunsTests() const;

  // Returns how many iterations had ended when that was last asked about, as it is where there is a
  // look. REQUIRES: Stop, or called by AtEnd.
  [[nodiscard]] int CountIterations() const { return ended_; }

  // Looks once more, while the process waits after an iteration. REQUIRES: called by AtEnd.
  void LookAgain() { Count(asking_tid_); }

  // Returns how many looks there were. REQUIRES: as CountIterations.
  [[nodiscard]] std::size_t CountLooks() const { return looks_; }

  // Returns the sum of what call sites have for which `counts` is true. What was made after the
  // first iteration in no test does not count. REQUIRES: likewise.
  [[nodiscard]] AllGrowth GrowthOfAll(const CountsInSum& counts);

  // Returns the same of what each of the tests has made, and the series of that. REQUIRES:
  // likewise.
  [[nodiscard]] std::map<std::string, GrowthOfTest> GrowthByTest(
      const std::map<std::string, CountsInSum>& tests);

  // Returns the tests of which any iteration but the first left more or fewer blocks of the user's
  // than the one before. REQUIRES: likewise.
  [[nodiscard]] std::set<std::string> FindUnsettledTests();

  // Returns the series of those of `call_sites` that had a live block at the end of any iteration.
  // REQUIRES: as CountIterations.
  [[nodiscard]] SeriesBySite SeriesOf(const std::set<std::string>& call_sites);

  // Returns the texts of the stacks of which another test than the one that made it, or a later
  // repetition, freed a block; nullopt if not all of these frees are known. REQUIRES: likewise.
  [[nodiscard]] std::optional<std::set<std::string>> StacksFreedLater();

  // Returns what FindFatesOf found. REQUIRES: likewise.
  [[nodiscard]] const BlockFates& Fates() const { return fates_; }

  // Returns the descriptors that the test left open in its second repetition. REQUIRES: as above.
  [[nodiscard]] const ResourcesLeft& DescriptorsLeft() const { return descriptors_left_; }

  // Returns the tests that left any open. REQUIRES: likewise.
  [[nodiscard]] const std::set<std::string>& TestsWithDescriptors() const {
    return tests_with_descriptors_;
  }

 private:
  [[nodiscard]] bool IsLookedAt(int iteration) const;
  void AskForNext();
  void NoteTimeOf(int iterations);
  void Count(int asking_tid);
  void NoteTests();
  [[nodiscard]] std::uint32_t SourceOf(std::uint32_t window, std::uint32_t allowance) const;
  void CountMappings(int asking_tid);
  void CountDescriptorsNow(int asking_tid);
  void NoteTestEnd(const std::string& test);
  [[nodiscard]] AllGrowth SumOf(const std::map<std::uint32_t, RepetitionSeries>& by_stack,
                                const CountsInSum& counts);
  void AddSeriesOf(const CountsByStack& counts, const std::string& prefix,
                   const std::set<std::string>& call_sites, SeriesBySite& series);

  void Answer(Mailbox& mailbox);

  TracedImage image_;
  Symbolizer& symbolizer_;
  std::mutex& mutex_;
  AtEnd at_end_;
  CallSites sites_;
  int ended_ = 0;
  // How long the process ran for each iteration, if that was looked at.
  std::vector<std::chrono::nanoseconds> times_;
  std::optional<std::chrono::steady_clock::time_point> goes_on_at_;
  std::size_t looks_ = 0;
  int asking_tid_ = 0;
  std::set<int> look_after_;  // empty: as counts_by_stack.h says
  int last_iteration_ = 0;
  std::set<std::string> fates_asked_;
  BlockFates fates_;
  std::vector<std::uint32_t> tests_;              // by window: the test's number, or 0
  std::map<std::string, std::uint32_t> numbers_;  // of tests
  std::uint32_t first_windows_end_ = 0;  // the windows of the first iteration have lower ids
  std::int64_t later_blocks_ = 0;        // live at the last look, of windows of later iterations
  CountsByStack blocks_;
  CountsByStack mappings_;
  std::uint32_t earlier_frees_ = 0;  // until the last iteration ended
  std::size_t last_threads_ = 0;
  const CountDescriptors counts_descriptors_;
  ProcessResources at_test_begin_;
  std::int64_t left_by_tests_ = 0;     // descriptors, in this iteration
  std::int64_t last_descriptors_ = 0;  // open as the last iteration ended
  RepetitionSeries descriptors_;
  ResourcesLeft descriptors_left_;
  std::set<std::string> tests_with_descriptors_;
};

}  // namespace leakgate
