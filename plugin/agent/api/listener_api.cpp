// The agent's C interface to the listener, and to allowances and measuring windows in the
// program's code (leakgate/agent.h).
#include <cstring>

#include "leakgate/agent.h"
#include "plugin/agent/api/boundary.h"
#include "plugin/agent/record/pools.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/measuring_windows.h"
#include "plugin/agent/windows/windows.h"

using namespace leakgate::agent;
using leakgate::BoundarySource;
using leakgate::TestResult;
using leakgate::WindowKind;

namespace {

static_assert(LEAKGATE_WINDOW_SUITE == static_cast<int>(WindowKind::kSuite));
static_assert(LEAKGATE_WINDOW_TEST == static_cast<int>(WindowKind::kTest));
static_assert(LEAKGATE_RESULT_PASSED == static_cast<int>(TestResult::kPassed));
static_assert(LEAKGATE_RESULT_FAILED == static_cast<int>(TestResult::kFailed));
static_assert(LEAKGATE_RESULT_SKIPPED == static_cast<int>(TestResult::kSkipped));

std::string_view ViewOf(const char* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text, std::strlen(text)};
}

// A child that a budget file names has one window, the whole of it. Only tests that the program
// under test runs have windows of their own.
bool HasTestWindows() {
  return (g_region.header().asks.load(std::memory_order_relaxed) & leakgate::kHasNoTests) == 0;
}

void AttachListener() {
  if (!HasTestWindows()) return;
  g_region.header().boundaries.store(static_cast<std::uint32_t>(BoundarySource::kListener),
                                     std::memory_order_relaxed);
}

unsigned Open(const LeakgateWindow* window) {
  if (TraceAtBoundary()) AttachListener();
  if (!IsTracing() || !HasTestWindows()) return 0;
  PrepareBoundary();
  const std::uint32_t opened = OpenWindow({.kind = static_cast<WindowKind>(window->kind),
                                           .name = ViewOf(window->name),
                                           .file = ViewOf(window->file),
                                           .line = window->line,
                                           .iteration = window->iteration});
  AnnounceWindow(opened);
  return opened;
}

LeakgateVerdict Close(unsigned window, unsigned result) {
  PrepareBoundary();
  if (!IsTracing() || !CanRecord()) return {};
  const RecordingGuard guard;
  const RunnerVerdict verdict = CloseWindow(guard, window, static_cast<TestResult>(result));
  return {verdict.is_over_budget ? 1 : 0,
          verdict.line,
          verdict.file.data(),
          static_cast<unsigned>(verdict.file.size()),
          verdict.text.data(),
          static_cast<unsigned>(verdict.text.size())};
}

void EndIterationOf(unsigned iteration) {
  if (!IsTracing() || !CanRecord()) return;
  const RecordingGuard guard;
  EndIteration(guard, iteration);
}

GivenAllowance Given(const LeakgateAllowance& allowance) {
  return {.reason = ViewOf(allowance.reason),
          .file = ViewOf(allowance.file),
          .line = allowance.line,
          .bytes = allowance.bytes,
          .blocks = allowance.blocks};
}

unsigned BeginAllowanceOf(const LeakgateAllowance* allowance) {
  if (!IsTracing() || !CanRecord()) return LEAKGATE_NOT_BEGUN;
  std::uint32_t before = 0;
  {
    const RecordingGuard guard;
    before = BeginAllowance(guard, Given(*allowance));
  }
  NoteUnsettled();
  return before;
}

void EndAllowance(unsigned before) {
  if (before == LEAKGATE_NOT_BEGUN || !IsTracing() || !CanRecord()) return;
  {
    const RecordingGuard guard;
    RestoreAllowance(guard, before);
  }
  NoteUnsettled();
}

void Expect(const LeakgateAllowance* allowance) {
  if (!IsTracing() || !CanRecord()) return;
  {
    const RecordingGuard guard;
    ExpectOutstanding(guard, Given(*allowance));
  }
  NoteUnsettled();
}

unsigned OpenMeasuring(const LeakgateMeasuringWindow* window) {
  if (!IsTracing() || !CanRecord()) return 0;
  const RecordingGuard guard;
  return OpenMeasuringWindow(guard,
                             {.name = ViewOf(window->name),
                              .file = ViewOf(window->file),
                              .line = window->line,
                              .threads = window->is_for_this_thread != 0 ? MeasuredThreads::kThis
                                                                         : MeasuredThreads::kAll});
}

using MeasureFunction = std::optional<Amount> (*)(Recording, std::uint32_t, const TextRoom&);

void MeasureBy(MeasureFunction measure, unsigned window, LeakgateMeasurement& result) {
  result.is_measured = 0;
  const TextRoom room{result.text, result.text == nullptr ? 0 : result.text_capacity};
  if (room.capacity != 0) room.text[0] = '\0';
  if (!IsTracing() || !CanRecord()) return;
  const RecordingGuard guard;
  const std::optional<Amount> amount = measure(guard, window, room);
  if (!amount) return;
  result.is_measured = 1;
  result.bytes = amount->bytes;
  result.blocks = amount->blocks;
}

void MeasureOf(unsigned window, LeakgateMeasurement* result) {
  MeasureBy(Measure, window, *result);
}

void EndMeasuring(unsigned window, LeakgateMeasurement* result) {
  MeasureBy(EndMeasuringWindow, window, *result);
}

int TakeSnapshot(const char* path, char* text, unsigned capacity) {
  const TextRoom room{text, capacity};
  if (capacity != 0) text[0] = '\0';
  if (!IsTracing() || !CanRecord()) return LEAKGATE_SNAPSHOT_NOT_TRACED;
  const RecordingGuard guard;
  SettleWindows(guard);
  switch (SaveSnapshot(path, room)) {
    case Answered::kYes:
      return LEAKGATE_SNAPSHOT_TAKEN;
    case Answered::kWithError:
      return LEAKGATE_SNAPSHOT_FAILED;
    case Answered::kNo:
      break;
  }
  return LEAKGATE_SNAPSHOT_NOT_TRACED;
}

void MarkRecording(const char* name) {
  if (!RecordsEvents() || !IsTracing() || !CanRecord()) return;
  const RecordingGuard guard;
  NoteMark(EventThreadOf(*t_thread.state), ViewOf(name));
}

void AnnounceEnd() {
  if (IsTracing() && !MayHaveLostStatics()) AnnounceProcessEnd();
}

unsigned CreatePoolOf(const char* name) { return CreatePool(ViewOf(name)); }

void AllocateIn(unsigned pool, const void* block, unsigned long long bytes) {
  AllocateInPool(pool, block, static_cast<std::size_t>(bytes), LEAKGATE_CALLER_FRAME());
}

const LeakgateAgent kAgent = {LEAKGATE_AGENT_VERSION,
                              AttachListener,
                              Open,
                              Close,
                              EndIterationOf,
                              BeginAllowanceOf,
                              EndAllowance,
                              Expect,
                              OpenMeasuring,
                              MeasureOf,
                              EndMeasuring,
                              TakeSnapshot,
                              MarkRecording,
                              AnnounceEnd,
                              CreatePoolOf,
                              AllocateIn,
                              FreeInPool,
                              ResetPool,
                              DestroyPool};

}  // namespace

extern "C" __attribute__((visibility("default"))) const LeakgateAgent* leakgate_agent(
    unsigned version) {
  (void)TraceAtBoundary();
  return IsTracing() && version != 0 && version <= LEAKGATE_AGENT_VERSION ? &kAgent : nullptr;
}
