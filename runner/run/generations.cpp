#include "runner/run/generations.h"

namespace leakgate {

int Generations::RegionFor(int pid) {
  // Acquire pairs with the release of the main thread, which has launched it.
  if (pid != enabled_pid_.load(std::memory_order_acquire)) return -1;
  const Expected<int> fd = StartNext(pid);
  if (fd) return *fd;
  errors_.push_back(fd.error().message);
  return -1;
}

Expected<int> Generations::StartNext(int pid) {
  const auto generation = static_cast<std::uint32_t>(processes_.size()) + 1;
  Expected<std::unique_ptr<RegionFile>> region = RegionFile::Create({.pid = pid,
                                                                     .generation = generation,
                                                                     .boundaries = boundaries_,
                                                                     .stack_depth = stack_depth_});
  if (!region) return Unexpected(region.error());
  processes_.push_back(std::make_unique<JudgedProcess>(
      *std::move(region),
      ImageJudging{.surroundings = surroundings_, .mutex = judging_, .snapshots = snapshots_}));
  latest_.store(processes_.back().get(), std::memory_order_release);  // acquired by latest()
  return processes_.back()->region_fd();
}

WindowCopy Generations::Window(std::uint32_t id) const {
  return processes_.empty() ? WindowCopy{} : processes_.back()->region().Window(id);
}

WindowCopy Generations::CurrentWindow() const {
  return processes_.empty() ? WindowCopy{} : Window(processes_.back()->region().CurrentWindow());
}

std::string RunningTest(const Generations& generations) {
  if (generations.processes().empty()) return "";
  const RegionReader& region = generations.processes().back()->region();
  for (std::uint32_t id = region.WindowCount(); id-- > 1;) {
    const WindowCopy window = region.Window(id);
    if (window.kind == WindowKind::kTest && window.state == WindowState::kOpen) return window.name;
  }
  return "";
}

}  // namespace leakgate
