// Counts the live blocks of one traced image by stack, at the end of each of its iterations. The
// process waits meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/host/mailbox_server.h"
#include "runner/judge/repetition_series.h"
#include "runner/judge/window_meter.h"
#include "runner/region/linux/region_file.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// The series of call sites, by CallSiteKey.
using SeriesBySite = std::map<std::string, SeriesByStack>;

class IterationCounts {
 public:
  // Called at the end of each iteration, while the process waits, on a thread of the counts' own.
  using AtEnd = std::function<void(IterationCounts& counts)>;

  // `symbolizer` must outlive this object; nobody else may use it until the process has ended.
  IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer, AtEnd at_end);

  const RegionReader& region() const { return region_->reader(); }
  int region_fd() const { return region_->fd().get(); }

  // Stops counting. REQUIRES: the process has ended.
  void Stop() { server_.Stop(); }

  // Returns how many iterations have ended. REQUIRES: Stop, or called by AtEnd.
  [[nodiscard]] int CountIterations() const { return ended_; }

  // Returns the series of those of `call_sites` that had a live block at the end of any iteration.
  // REQUIRES: as CountIterations.
  [[nodiscard]] SeriesBySite SeriesOf(const std::set<std::string>& call_sites);

 private:
  using ByStack = std::map<std::uint32_t, Amount>;

  void Count(int asking_tid);
  std::set<std::uint32_t> FindRelevantStacks() const;
  RepetitionSeries SeriesOfStack(std::uint32_t stack) const;

  void Answer(Mailbox& mailbox);

  std::unique_ptr<RegionFile> region_;
  Symbolizer& symbolizer_;
  AtEnd at_end_;
  CallSites sites_;
  // The test's own assertions must give the same results as in the suite's run.
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
  int ended_ = 0;
  ByStack last_;                             // what was live as the last iteration ended
  std::vector<ByStack> nets_;                // what each iteration but the first changed
  std::uint32_t first_windows_end_ = 0;      // the windows of the first iteration have lower ids
  std::set<std::uint32_t> built_later_;      // those of which a live block is of a later iteration
  std::set<std::uint32_t> stacks_of_tests_;  // those with live blocks in a test's or suite's window
  MailboxServer server_;                     // the last member, because it uses the others
};

}  // namespace leakgate
