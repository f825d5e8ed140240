#include "runner/judge/window_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runner/process/proc_files.h"
#include "runner/region/amount.h"
#include "runner/region/judged_mappings.h"

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

// Another thread's, or another thread: it may go any moment.
bool MayGo(const EvidenceRequest& request, const LiveBlock& piece) {
  if (piece.kind == AllocationKind::kThreadStack) return true;
  const ThreadCopy thread = request.region.Thread(piece.thread);
  return thread.tid != request.asking_tid && !thread.has_ended;
}

bool AnyMayGo(const EvidenceRequest& request, const WindowEvidence& pieces) {
  return std::any_of(pieces.blocks.begin(), pieces.blocks.end(),
                     [&](const LiveBlock& piece) { return MayGo(request, piece); });
}

MappedEvidence GatherOnce(const EvidenceRequest& request) {
  MappedEvidence mapped;
  for (const MappingCopy& mapping : JudgedMappings(request.region)) {
    if (mapping.window != request.window) continue;
    if (IsReserved(mapping)) {
      mapped.reserved_bytes += static_cast<std::int64_t>(mapping.size_bytes);
      continue;
    }
    mapped.pieces.blocks.push_back({.address = mapping.address,
                                    .size_bytes = mapping.size_bytes,
                                    .kind = mapping.kind,
                                    .stack = mapping.stack,
                                    .window = mapping.window,
                                    .thread = mapping.thread,
                                    .allowance = mapping.allowance});
  }
  mapped.pieces.facts.resize(mapped.pieces.blocks.size());
  return mapped;
}

// Returns nullptr if the program's list of tests does not tell where the test is defined.
const TestSource* ListedSource(const WindowCopy& window, const TestSources& sources) {
  const auto source = sources.find(window.name);
  return source != sources.end() && !source->second.file.empty() ? &source->second : nullptr;
}

}  // namespace

std::string SourceFileOf(const WindowCopy& window, const TestSources& sources) {
  const TestSource* const listed = ListedSource(window, sources);
  return listed != nullptr ? listed->file : window.file;
}

TestStatus TestStatusOf(const WindowCopy& window) {
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

WindowResult MakeWindowResult(const WindowCopy& window, const RegionReader& region,
                              const TestSources& sources, const std::string& binary_name) {
  WindowResult result;
  result.kind = window.kind;
  result.name = window.kind == WindowKind::kProgram ? binary_name : window.name;
  result.iteration = window.iteration;
  result.status = TestStatusOf(window);
  const TestSource* const listed = ListedSource(window, sources);
  result.source_file = listed != nullptr ? listed->file : window.file;
  result.source_line = listed != nullptr ? listed->line : window.line;
  // A window that is still open, the program's too, ends now.
  const bool is_closed = window.state == WindowState::kClosed;
  const Totals end = is_closed ? window.end : region.CurrentTotals();
  result.allocated = Allocated(window.begin, end);
  result.growth = result.allocated - Freed(window.begin, end);
  if (region.CountsTemporary()) {
    result.temporary = TemporaryIn(end) - TemporaryIn(window.begin);
  }
  const std::uint64_t live_bytes = end.allocated_bytes - end.freed_bytes;
  result.peak_live_bytes = static_cast<std::int64_t>(std::max(window.peak_live_bytes, live_bytes));
  result.live_bytes_at_begin = LiveIn(window.begin).bytes;
  result.live_bytes_at_end = static_cast<std::int64_t>(live_bytes);
  result.end = is_closed ? TimeOf(window.end_time_ns) : SteadyTime();
  result.begin = std::min(TimeOf(window.begin_time_ns), result.end);
  return result;
}

MappedEvidence GatherMappings(const EvidenceRequest& request, Patience patience) {
  using std::chrono::microseconds;
  constexpr microseconds kLongestPause(51'200);
  MappedEvidence mapped = GatherOnce(request);
  if (request.asking_tid == 0 || patience == Patience::kNone) return mapped;
  for (microseconds pause(100); pause <= kLongestPause; pause *= 2) {
    if (!AnyMayGo(request, mapped.pieces)) break;
    std::this_thread::sleep_for(pause);
    mapped = GatherOnce(request);
  }
  return mapped;
}

std::vector<std::string> NameMappedFiles(int pid, const WindowEvidence& pieces) {
  const bool has_any =
      std::any_of(pieces.blocks.begin(), pieces.blocks.end(),
                  [](const LiveBlock& piece) { return piece.kind == AllocationKind::kMappedFile; });
  if (!has_any) return {};
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid);
  if (!maps) return {};
  std::vector<std::string> lines;
  for (const LiveBlock& piece : pieces.blocks) {
    if (piece.kind != AllocationKind::kMappedFile) continue;
    const MappedRange* const range = FindRange(*maps, piece.address);
    if (range == nullptr || !range->name.starts_with("/")) continue;
    lines.push_back(fmt::format("mapping of {} B: {}", piece.size_bytes, range->name));
  }
  return lines;
}

}  // namespace leakgate
