// Counts the live blocks of one traced image by stack, at the end of each of its iterations. The
// process waits meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/host/mailbox_server.h"
#include "runner/judge/window_meter.h"
#include "runner/region/linux/region_file.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

class IterationCounts {
 public:
  // `symbolizer` must outlive this object; nobody else may use it until the process has ended.
  IterationCounts(std::unique_ptr<RegionFile> region, Symbolizer& symbolizer);

  const RegionReader& region() const { return region_->reader(); }
  int region_fd() const { return region_->fd().get(); }

  // Returns how many iterations have ended. REQUIRES: the process has ended.
  [[nodiscard]] int CountIterations();

  // Returns the net blocks of each iteration except the first, for those of `call_sites` that had a
  // live block at the end of any iteration. REQUIRES: the process has ended.
  [[nodiscard]] std::map<std::string, std::vector<std::int64_t>> SeriesOf(
      const std::set<std::string>& call_sites);

 private:
  using ByStack = std::map<std::uint32_t, std::int64_t>;

  void Count(int asking_tid);
  std::set<std::uint32_t> FindRelevantStacks() const;

  void Answer(Mailbox& mailbox);

  std::unique_ptr<RegionFile> region_;
  Symbolizer& symbolizer_;
  // The test's own assertions must give the same results as in the suite's run.
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
  std::vector<ByStack> counts_;              // one for each iteration
  std::set<std::uint32_t> stacks_of_tests_;  // those with live blocks in a test's or suite's window
  MailboxServer server_;                     // the last member, because it uses the others
};

}  // namespace leakgate
