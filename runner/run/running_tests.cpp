#include "runner/run/running_tests.h"

#include <utility>

#include "runner/result/gtest_flags.h"

namespace leakgate {

// Windows are opened in order, so each one is looked at until it has ended.
void RunningTests::TakeNewWindows(const RegionReader& region) {
  std::vector<std::uint32_t> looked_at = std::move(open_);
  open_.clear();
  const std::uint32_t count = region.WindowCount();
  for (; next_ < count; ++next_) looked_at.push_back(next_);
  for (const std::uint32_t id : looked_at) {
    const WindowCopy window = region.Window(id);
    const bool may_be_test =
        window.kind == WindowKind::kTest || window.state == WindowState::kUnused;
    if (!may_be_test) continue;
    if (window.state == WindowState::kClosed) {
      ++done_;
    } else {
      open_.push_back(id);
    }
  }
}

Progress RunningTests::Now() {
  Progress progress;
  const JudgedProcess* const latest = generations_.latest();
  if (latest != nullptr) {
    if (latest != image_) {
      image_ = latest;
      next_ = 1;
      open_.clear();
    }
    TakeNewWindows(latest->region());
    if (!open_.empty()) progress.current = latest->region().Window(open_.back()).name;
    progress.over_budget = latest->over_budget_tests();
  }
  const bool has_begun = done_ > 0 || !progress.current.empty();
  progress.stage = has_begun || all_ ? ProgressStage::kTests : ProgressStage::kProgram;
  progress.done = done_;
  if (all_ && done_ <= *all_) progress.all = all_;  // if more have ended, the program repeats them
  return progress;
}

std::optional<std::int64_t> CountTestsToRun(const TestSources& listed,
                                            const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& environment) {
  if (listed.empty() || MayRepeatTests(arguments, environment)) return std::nullopt;
  const auto all = static_cast<std::int64_t>(listed.size());
  const std::optional<Shard> shard = ShardOf(environment);
  if (!shard) return all;
  // GoogleTest gives the tests to the shards in turn.
  return (all - shard->index + shard->total - 1) / shard->total;
}

}  // namespace leakgate
