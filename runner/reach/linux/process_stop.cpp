#include "runner/reach/process_stop.h"

#include <utility>

#include "runner/reach/linux/frozen_process.h"

namespace leakgate {
namespace {

class StopByFreezing final : public ProcessStop {
 public:
  explicit StopByFreezing(FrozenProcess frozen) : frozen_(std::move(frozen)) {}
  [[nodiscard]] bool HasStoodStill() const override { return frozen_.HasStoodStill(); }

 private:
  FrozenProcess frozen_;
};

}  // namespace

Expected<std::unique_ptr<ProcessStop>> ProcessStop::Stop(int pid) {
  LEAKGATE_TRY_ASSIGN(FrozenProcess frozen, FrozenProcess::Freeze({.pid = pid}));
  return std::make_unique<StopByFreezing>(std::move(frozen));
}

}  // namespace leakgate
