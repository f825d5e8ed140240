#include "runner/reach/process_stop.h"

#include <fmt/format.h>

#include <utility>

#include "runner/reach/nt/stopped_process.h"

namespace leakgate {
namespace {

class StopByFreezing final : public ProcessStop {
 public:
  explicit StopByFreezing(StoppedProcess stopped) : stopped_(std::move(stopped)) {}
  [[nodiscard]] bool HasStoodStill() const override { return stopped_.HasStoodStill(); }

 private:
  StoppedProcess stopped_;
};

}  // namespace

Expected<std::unique_ptr<ProcessStop>> ProcessStop::Stop(int pid) {
  LEAKGATE_TRY_ASSIGN(StoppedProcess stopped, StoppedProcess::Stop(pid));
  return std::make_unique<StopByFreezing>(std::move(stopped));
}

Unexpected WokenError(int pid) {
  return InconclusiveError(
      fmt::format("another process has begun a thread of PID {} meanwhile; try again", pid));
}

}  // namespace leakgate
