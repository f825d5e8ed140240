// Counts what one traced image holds at the end of each of its iterations, while the process waits:
// live blocks, mappings and threads' stacks by call stack, and open descriptors.
#pragma once

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
#include "runner/host/mailbox_server.h"
#include "runner/judge/repetition_series.h"
#include "runner/judge/window_meter.h"
#include "runner/process/proc_files.h"
#include "runner/region/linux/region_file.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// The series of call sites, by SeriesKey, and that of descriptors, by kDescriptorsKey.
using SeriesBySite = std::map<std::string, SeriesByStack>;

// Returns a text that tells call sites apart, and their blocks from their mappings.
[[nodiscard]] std::string SeriesKey(const Finding& finding);

// Stands for all descriptors, which have no call stack.
inline constexpr const char* kDescriptorsKey = "file descriptors";

enum class CountDescriptors { kNo, kYes };

// What is live, by stack, at the end of each iteration.
class CountsByStack {
 public:
  struct Live {
    std::uint32_t stack = 0;
    std::uint32_t window = 0;
    std::uint64_t size_bytes = 0;
  };

  // Notes all that is live as an iteration ends. `windows_end` is more than the id of any window of
  // the first iteration.
  void Note(const std::vector<Live>& live, std::uint32_t windows_end);

  // Returns the stacks of tests and suites, and those whose counts changed. The program may have
  // built a lot before its first test, which is the same in all iterations.
  [[nodiscard]] std::set<std::uint32_t> FindRelevantStacks() const;

  [[nodiscard]] RepetitionSeries SeriesOf(std::uint32_t stack) const;

 private:
  using ByStack = std::map<std::uint32_t, Amount>;

  bool has_begun_ = false;
  ByStack last_;                             // what was live as the last iteration ended
  std::vector<ByStack> nets_;                // what each iteration but the first changed
  std::set<std::uint32_t> built_later_;      // those of which a live one is of a later iteration
  std::set<std::uint32_t> stacks_of_tests_;  // those of what is live of a test's or suite's window
};

class IterationCounts {
 public:
  // Called at the end of each iteration, while the process waits, on a thread of the counts' own.
  using AtEnd = std::function<void(IterationCounts& counts)>;

  // `symbolizer` must outlive this object; nobody else may use it until the process has ended, but
  // for other images of the repetitions: `mutex`, which is theirs, too, is locked meanwhile.
  IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer, std::mutex& mutex,
                  CountDescriptors descriptors, AtEnd at_end);

  const RegionReader& region() const { return region_->reader(); }
  int region_fd() const { return region_->fd().get(); }

  // Stops counting. REQUIRES: the process has ended.
  void Stop() { server_.Stop(); }

  // Returns whether a test has begun.
  [[nodiscard]] bool RunsTests() const;

  // Returns how many iterations have ended. REQUIRES: Stop, or called by AtEnd.
  [[nodiscard]] int CountIterations() const { return ended_; }

  // Returns the series of those of `call_sites` that had a live block at the end of any iteration.
  // REQUIRES: as CountIterations.
  [[nodiscard]] SeriesBySite SeriesOf(const std::set<std::string>& call_sites);

  // Returns the texts of the stacks of which another test than the one that made it, or a later
  // repetition, freed a block; nullopt if not all of these frees are known. REQUIRES: likewise.
  [[nodiscard]] std::optional<std::set<std::string>> StacksFreedLater();

  // Returns the descriptors that the test left open in its second repetition. REQUIRES: as above.
  [[nodiscard]] const ResourcesLeft& DescriptorsLeft() const { return descriptors_left_; }

  // Returns the tests that left any open. REQUIRES: likewise.
  [[nodiscard]] const std::set<std::string>& TestsWithDescriptors() const {
    return tests_with_descriptors_;
  }

 private:
  void Count(int asking_tid);
  void CountMappings(int asking_tid);
  void CountDescriptorsNow(int asking_tid);
  void NoteTestEnd(const std::string& test);
  void AddSeriesOf(const CountsByStack& counts, const std::string& prefix,
                   const std::set<std::string>& call_sites, SeriesBySite& series);

  void Answer(Mailbox& mailbox);

  std::unique_ptr<RegionFile> region_;
  Symbolizer& symbolizer_;
  std::mutex& mutex_;
  AtEnd at_end_;
  CallSites sites_;
  // The test's own assertions must give the same results as in the suite's run.
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
  int ended_ = 0;
  std::uint32_t first_windows_end_ = 0;  // the windows of the first iteration have lower ids
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
  MailboxServer server_;  // the last member, because it uses the others
};

}  // namespace leakgate
