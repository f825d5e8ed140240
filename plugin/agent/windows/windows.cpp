#include "plugin/agent/windows/windows.h"

#include <utility>

#include "common/system.h"
#include "plugin/agent/exec/exec_notices.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/counters.h"
#include "plugin/agent/windows/new_descriptors.h"

#include LEAKGATE_AGENT(syscall)
#include LEAKGATE_AGENT(monotonic_time)

namespace leakgate::agent {
namespace {

// The kernel may kill the process for a system call. Relaxed, like other flags here: nothing else
// is published with it.
constinit std::atomic<bool> g_is_confined{false};
constinit std::atomic<bool> g_is_in_test{false};
constinit std::atomic<bool> g_has_announced_end{false};
constinit std::atomic<bool> g_is_fork_child{false};

TextRef AddText(std::string_view text) {
  if (text.empty()) return {0, 0};
  return g_region.AddText(text.data(), static_cast<std::uint32_t>(text.size()));
}

// Neighbouring tests are mostly in one file, whose name is already there.
TextRef AddFile(std::string_view file) {
  static constinit TextRef last{};
  const std::string_view known(g_region.text() + last.offset, last.length);
  if (file != known) last = AddText(file);
  return last;
}

bool IsOpen(std::uint32_t window) {
  return window != 0 && window < g_region.header().window_count.load(std::memory_order_relaxed) &&
         g_region.windows()[window].state.load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(WindowState::kOpen);
}

// Writes the event if a recording wants it. The thread may be recording already, or not.
void NoteEvent(OtherEvent event, std::uint32_t window) {
  ThreadState* const thread = t_thread.state;
  if (!RecordsEvents() || thread == nullptr || thread->span != g_span) return;
  const Activity before = t_thread.activity;
  t_thread.SetActivity(Activity::kRecording);
  NoteOther(EventThreadOf(*thread), event, window);
  t_thread.SetActivity(before);
}

void MarkBegin(WindowRecord& record) {
  record.begin = SumTotals();
  record.begin_time_ns = MonotonicTime();
}

void MarkEnd(WindowRecord& record) {
  record.end = SumTotals();
  record.end_time_ns = MonotonicTime();
}

// If nothing is outstanding, on the heap or mapped, the window passes without a question, as long
// as the count is certain.
bool NeedsJudging(const WindowSum& sum, const WindowRecord& record) {
  return !sum.is_exact || sum.blocks != 0 || record.mappings.load(std::memory_order_relaxed) != 0;
}

bool RunnerAsks(std::uint32_t what) {
  return (g_region.header().asks.load(std::memory_order_relaxed) & what) != 0;
}

bool IsTest(const WindowRecord& record) {
  return record.kind == static_cast<std::uint32_t>(WindowKind::kTest);
}

bool IsAskedFor(const WindowRecord& record) {
  return RunnerAsks(IsTest(record) ? kAskAtTestEnd : kAskAtSuiteEnd);
}

bool AsksForDescriptors() {
  return RunnerAsks(kAskAtNewDescriptors) && !g_is_confined.load(std::memory_order_relaxed);
}

// Used for suites only, so that a test that passes makes no system call.
bool LeftDescriptors(const WindowRecord& record) {
  if (IsTest(record) || !AsksForDescriptors() || !HasNewDescriptors()) return false;
  ForgetFreeDescriptors();
  return true;
}

// Clears what calls that have returned left on the stack. Otherwise a pointer to a block of the
// test may stand in an unused part of the next frames, and the runner would treat it as a root. The
// range is small, because a signal handler's stack has hardly more.
[[gnu::noinline]] void ClearDeadStack() {
  char dead[1024];
  __builtin_memset(dead, 0, sizeof(dead));
  asm volatile("" : : "r"(dead) : "memory");  // makes the compiler write it
}

[[gnu::noinline]] RunnerVerdict CountAndJudge(std::uint32_t window) {
  WindowRecord& record = g_region.windows()[window];
  MarkEnd(record);
  NoteEvent(OtherEvent::kWindowEnds, window);
  RaisePeak(window, LiveBytes(record.end));
  RaisePeak(record.parent, record.peak_live_bytes.load(std::memory_order_relaxed));
  const WindowSum sum = SumWindow(window);
  record.state.store(static_cast<std::uint32_t>(WindowState::kClosed), std::memory_order_release);
  const bool left_descriptors = LeftDescriptors(record);
  const bool needs_verdict = NeedsJudging(sum, record) && !RunnerAsks(kAskNoVerdicts);
  if (!needs_verdict && !IsAskedFor(record) && !left_descriptors) return {};
  return AskRunner({Question::kJudge, window, record.iteration, left_descriptors ? 1U : 0U});
}

void TellIterationEnd(std::uint32_t iteration) {
  const RegionHeader& header = g_region.header();
  const bool is_asked = RunnerAsks(kAskAtIterationEnd) &&
                        iteration >= header.first_iteration_asked.load(std::memory_order_relaxed);
  if (!is_asked) return;
  const std::uint32_t window = header.current_window.load(std::memory_order_relaxed);
  AskRunner({Question::kIterationEnds, window, iteration});
}

void AskAboutEnd(Question question) {
  const std::uint32_t window = g_region.header().current_window.load(std::memory_order_relaxed);
  AskRunner({question, window, 1});
}

// An initialiser that has begun in the window and has not ended never will, because a jump has left
// it. What the thread allocated since was marked as the initialiser's.
void NoteAbandonedStatics(ThreadState& thread, std::uint32_t window) {
  for (std::uint32_t i = 0; i < thread.begun_static_count; ++i) {
    if (thread.begun_statics[i].window != window) continue;
    g_region.header().static_was_aborted.store(1, std::memory_order_relaxed);
    thread.begun_static_count = i;
    return thread.ForgetContext();
  }
}

void LeaveWindow(Recording recording, std::uint32_t window, TestResult result) {
  NoteAbandonedStatics(recording.thread(), window);
  EndAllowancesOf(recording, window);
  WindowRecord& record = g_region.windows()[window];
  record.test_result = static_cast<std::uint32_t>(result);
  SetCurrentWindow(record.parent);
}

}  // namespace

void SetCurrentWindow(std::uint32_t window) {
  NoteWindowForExecs(window);
  const bool is_test = window < kMaxWindows && IsTest(g_region.windows()[window]);
  g_is_in_test.store(is_test, std::memory_order_relaxed);
  g_region.header().current_window.store(window, std::memory_order_release);
  RaiseEpoch();
}

void StartWindows() {
  RegionHeader& header = g_region.header();
  header.window_count.store(1, std::memory_order_relaxed);  // 0 means no window
  header.thread_count.store(1, std::memory_order_relaxed);
  header.context_count.store(1, std::memory_order_relaxed);
  header.allowance_count.store(1, std::memory_order_relaxed);
  header.module_count.store(1, std::memory_order_relaxed);
  header.text_bytes.store(1, std::memory_order_relaxed);
  OpenWindow({.kind = WindowKind::kProgram, .name = {}, .file = {}});
}

std::uint32_t OpenWindow(const WindowStart& start) {
  RegionHeader& header = g_region.header();
  const std::uint32_t id = header.window_count.load(std::memory_order_relaxed);
  if (id >= kMaxWindows || !MakeRoom(&g_region.windows()[id], sizeof(WindowRecord))) {
    g_region.Drop(DropReason::kWindowTableFull);
    return 0;
  }
  WindowRecord& record = g_region.windows()[id];
  record.kind = static_cast<std::uint32_t>(start.kind);
  record.parent = header.current_window.load(std::memory_order_relaxed);
  record.iteration = start.iteration;
  record.line = start.line;
  record.name = AddText(start.name);
  record.file = AddFile(start.file);
  MarkBegin(record);
  record.peak_live_bytes.store(LiveBytes(record.begin), std::memory_order_relaxed);
  record.state.store(static_cast<std::uint32_t>(WindowState::kOpen), std::memory_order_release);
  header.window_count.store(id + 1, std::memory_order_release);
  SetCurrentWindow(id);
  NoteEvent(OtherEvent::kWindowBegins, id);
  return id;
}

void AnnounceWindow(std::uint32_t window) {
  if (!IsOpen(window)) return;
  const WindowRecord& record = g_region.windows()[window];
  if (!IsTest(record)) return;
  if (AsksForDescriptors()) NoteFreeDescriptors();
  if (!RunnerAsks(kAskAtTestBegin)) return;
  AskRunner({Question::kTestBegins, window, record.iteration});
}

RunnerVerdict CloseWindow(Recording recording, std::uint32_t window, TestResult result) {
  SettleWindows(recording);
  if (!IsOpen(window)) return {};
  LeaveWindow(recording, window, result);
  ClearDeadStack();
  return CountAndJudge(window);
}

void EndIteration(Recording recording, std::uint32_t iteration) {
  SettleWindows(recording);
  TellIterationEnd(iteration);
}

void OpenWindowUnsettled(Recording recording, std::uint32_t window) {
  recording.thread().opening_window = window;
}

void CloseWindowUnsettled(Recording recording, std::uint32_t window, TestResult result) {
  if (!IsOpen(window)) return;
  LeaveWindow(recording, window, result);
  recording.thread().closing_window = window;
}

void EndIterationUnsettled(Recording recording, std::uint32_t iteration) {
  recording.thread().ended_iteration = iteration;
}

void NoteUnsettled() {
  const ThreadState& thread = *t_thread.state;
  if ((thread.opening_window | thread.closing_window | thread.ended_iteration) != 0) {
    t_thread.SetActivity(Activity::kUnsettled);
  }
}

void SettleWindows(Recording recording) {
  ThreadState& thread = recording.thread();
  const std::uint32_t opening = std::exchange(thread.opening_window, 0);
  const std::uint32_t closing = std::exchange(thread.closing_window, 0);
  const std::uint32_t iteration = std::exchange(thread.ended_iteration, 0);
  if (IsOpen(closing)) {
    ClearDeadStack();
    CountAndJudge(closing);
  }
  if (iteration != 0) TellIterationEnd(iteration);
  if (!IsOpen(opening)) return;
  MarkBegin(g_region.windows()[opening]);
  // The event is written again: the later one counts.
  NoteEvent(OtherEvent::kWindowBegins, opening);
  AnnounceWindow(opening);
}

bool TakePlantingOfLeak() {
  static constinit std::atomic<bool> is_planted{false};
  if (!RunnerAsks(kAskToPlant) || is_planted.load(std::memory_order_relaxed)) return false;
  const std::uint32_t window = g_region.header().current_window.load(std::memory_order_relaxed);
  if (!IsOpen(window) || !IsTest(g_region.windows()[window])) return false;
  return !is_planted.exchange(true, std::memory_order_relaxed);
}

void AskNothingAtProcessEnd() { g_is_confined.store(true, std::memory_order_relaxed); }

bool IsInTest() { return g_is_in_test.load(std::memory_order_relaxed); }

bool IsForkChild() { return g_is_fork_child.load(std::memory_order_relaxed); }

void BeginForkChild() {
  g_is_fork_child.store(true, std::memory_order_relaxed);
  KeepWindowForExecs();
  ForgetTurns();
  g_has_announced_end.store(false, std::memory_order_relaxed);
}

void AnnounceProcessEnd() {
  if (g_is_confined.load(std::memory_order_relaxed) || !RunnerAsks(kAskAtProcessEnd) ||
      CurrentPid() != g_region.header().pid)
    return;
  if (g_has_announced_end.exchange(true, std::memory_order_relaxed)) return;
  SettleBeforeEnd();
  AskAboutEnd(Question::kProcessEnds);
}

bool HasMissedProcessEnd() {
  return RunnerAsks(kAskAtProcessEnd) && !g_has_announced_end.load(std::memory_order_relaxed);
}

void AnnounceEndOfDestructors() {
  if (g_is_confined.load(std::memory_order_relaxed)) return;
  if (!RunnerAsks(kAskAtProcessEnd) || CurrentPid() != g_region.header().pid) return;
  AskAboutEnd(Question::kDestructorsHaveRun);
}

void SettleBeforeEnd() {
  if (t_thread.activity != Activity::kUnsettled) return;
  const RecordingGuard guard;
  SettleWindows(guard);
}

}  // namespace leakgate::agent
