#include "runner/judge/window_description.h"

#include <algorithm>
#include <chrono>

#include "runner/region/amount.h"

namespace leakgate {
namespace {

Amount Allocated(const Totals& begin, const Totals& end) {
  return AmountOf(end.allocated_bytes - begin.allocated_bytes,
                  end.allocated_blocks - begin.allocated_blocks);
}

Amount Freed(const Totals& begin, const Totals& end) {
  return AmountOf(end.freed_bytes - begin.freed_bytes, end.freed_blocks - begin.freed_blocks);
}

std::chrono::nanoseconds SteadyTime() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// What the agent wrote; never later than now, whatever it wrote.
std::chrono::nanoseconds TimeOf(std::uint64_t steady_ns) {
  const std::chrono::nanoseconds now = SteadyTime();
  const auto limit = static_cast<std::uint64_t>(now.count());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(steady_ns, limit)));
}

}  // namespace

TestStatus StatusOf(const WindowCopy& window) {
  if (window.kind != WindowKind::kTest) return TestStatus::kNone;
  if (window.state != WindowState::kClosed) return TestStatus::kCrashed;
  switch (window.test_result) {
    case TestResult::kPassed:
      return TestStatus::kPassed;
    case TestResult::kFailed:
      return TestStatus::kFailed;
    case TestResult::kSkipped:
      return TestStatus::kSkipped;
    case TestResult::kNotPassed:
    case TestResult::kUnknown:
      break;
  }
  return TestStatus::kNotPassed;
}

WindowResult Describe(const WindowCopy& window, const RegionReader& region,
                      const TestSources& sources, const std::string& binary_name) {
  WindowResult result;
  result.kind = window.kind;
  result.name = window.kind == WindowKind::kProgram ? binary_name : window.name;
  result.iteration = window.iteration;
  result.status = StatusOf(window);
  result.source_file = window.file;
  result.source_line = window.line;
  const auto source = sources.find(window.name);
  if (source != sources.end() && !source->second.file.empty()) {
    result.source_file = source->second.file;
    result.source_line = source->second.line;
  }
  // A window that is still open, the program's too, ends now.
  const bool is_closed = window.state == WindowState::kClosed;
  const Totals end = is_closed ? window.end : region.CurrentTotals();
  result.allocated = Allocated(window.begin, end);
  result.growth = result.allocated - Freed(window.begin, end);
  const std::uint64_t live_bytes = end.allocated_bytes - end.freed_bytes;
  result.peak_live_bytes = static_cast<std::int64_t>(std::max(window.peak_live_bytes, live_bytes));
  result.live_bytes_at_begin = LiveIn(window.begin).bytes;
  result.live_bytes_at_end = static_cast<std::int64_t>(live_bytes);
  result.end = is_closed ? TimeOf(window.end_time_ns) : SteadyTime();
  result.begin = std::min(TimeOf(window.begin_time_ns), result.end);
  return result;
}

}  // namespace leakgate
