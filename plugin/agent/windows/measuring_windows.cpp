#include "plugin/agent/windows/measuring_windows.h"

#include "common/system.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/windows/counters.h"
#include "plugin/agent/windows/phase_order.h"
#include "plugin/agent/windows/windows.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

constinit SpinLock g_lock;
constinit PhaseOrder g_order;

// Names and files that are already in the region's text: mostly a few that occur again and again.
class KnownTexts {
 public:
  TextRef Of(std::string_view text) {
    if (text.empty()) return {0, 0};
    TextRef& known = known_[HashOf(text) % kCount];
    if (std::string_view(g_region.text() + known.offset, known.length) != text) {
      known = g_region.AddText(text.data(), static_cast<std::uint32_t>(text.size()));
    }
    return known;
  }

 private:
  static constexpr std::uint32_t kCount = 256;

  static std::uint32_t HashOf(std::string_view text) {
    std::uint32_t hash = 0x811C'9DC5;  // FNV-1a
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x0100'0193;
    return hash ^ (hash >> 16);
  }

  TextRef known_[kCount] = {};
};
constinit KnownTexts g_texts;

// Counts the regions. A window's handle contains its id in the region and the region's number, so a
// window of an earlier region is never confused with one of this region.
constinit std::uint32_t g_regions = 0;

std::uint32_t HandleOf(std::uint32_t window) { return g_regions * kMaxMeasuringWindows + window; }

// Returns 0 if the handle is of another region.
std::uint32_t WindowOf(std::uint32_t handle) {
  const bool is_of_this = handle - handle % kMaxMeasuringWindows == HandleOf(0);
  return is_of_this ? handle % kMaxMeasuringWindows : 0;
}

std::string_view FirstOf(std::string_view text) {
  constexpr std::size_t kLongest = 1024;
  return text.substr(0, kLongest);
}

MeasuringWindowRecord& RecordOf(std::uint32_t window) {
  return g_region.measuring_windows()[window];
}

bool IsIn(std::uint32_t window, WindowState state) {
  const RegionHeader& header = g_region.header();
  return window != 0 && window < header.measuring_window_count.load(std::memory_order_acquire) &&
         RecordOf(window).state.load(std::memory_order_acquire) ==
             static_cast<std::uint32_t>(state);
}

void SetState(std::uint32_t window, WindowState state) {
  RecordOf(window).state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

std::uint64_t CountDrops() {
  std::uint64_t sum = 0;
  for (const auto& drops : g_region.header().drops) sum += drops.load(std::memory_order_relaxed);
  return sum;
}

// Tests need contexts, too, so half of them are reserved for tests.
bool HasRoom(std::uint32_t window) {
  const std::uint32_t contexts = g_region.header().context_count.load(std::memory_order_relaxed);
  return window < kMaxMeasuringWindows && contexts < kMaxContexts / 2;
}

std::uint32_t Drop() {
  g_region.Drop(DropReason::kMeasuringWindowTableFull);
  return 0;
}

// Threads beyond the table share their number.
bool IsTold(std::uint32_t thread) { return thread < kMaxThreads - 1; }

std::uint32_t Open(std::uint32_t thread, const MeasuringStart& start) {
  std::atomic<std::uint32_t>& count = g_region.header().measuring_window_count;
  const SpinGuard guard(g_lock);
  const std::uint32_t before = count.load(std::memory_order_relaxed);
  const std::uint32_t window = before == 0 ? 1 : before;  // 0 is none
  if (!HasRoom(window) || !MakeRoom(&RecordOf(window), sizeof(MeasuringWindowRecord)))
    return Drop();
  MeasuringWindowRecord& record = RecordOf(window);
  record.window = g_region.header().current_window.load(std::memory_order_relaxed);
  record.thread = start.threads == MeasuredThreads::kThis ? thread : 0;
  record.line = start.line;
  record.name = g_texts.Of(FirstOf(start.name));
  record.file = g_texts.Of(FirstOf(start.file));
  record.end_phase = 0;
  record.drops_before = CountDrops();
  record.first_phase = g_order.Open(window, thread);
  if (record.first_phase == 0) return Drop();
  SetState(window, WindowState::kOpen);
  count.store(window + 1, std::memory_order_release);
  return window;
}

bool Close(std::uint32_t window, std::uint32_t thread) {
  const SpinGuard guard(g_lock);
  if (!IsIn(window, WindowState::kOpen)) return false;
  // This is set before the following phase begins.
  RecordOf(window).end_phase = g_order.end();
  g_order.Close(window, thread);
  SetState(window, WindowState::kClosed);
  return true;
}

// Called if the window has left nothing behind. If it was the last one, its number, and the last
// phase's, may be used again.
void Forget(std::uint32_t window, std::uint32_t thread) {
  std::atomic<std::uint32_t>& count = g_region.header().measuring_window_count;
  const SpinGuard guard(g_lock);
  const MeasuringWindowRecord& record = RecordOf(window);
  const bool has_last_phase =
      record.first_phase + 1 == record.end_phase && record.end_phase == g_order.end();
  if (has_last_phase) g_order.TakeBackLast(thread);
  SetState(window, WindowState::kUnused);
  if (count.load(std::memory_order_relaxed) == window + 1) {
    count.store(window, std::memory_order_release);
  }
}

// This is certain, because the counters are never too low.
bool HasNothing(const MeasuringWindowRecord& record, std::uint32_t end_phase) {
  const WindowSum sum = SumPhases(record.first_phase, end_phase);
  return sum.is_exact && sum.blocks == 0;
}

bool IsWhole(const MeasuringWindowRecord& record) {
  return record.drops_before == CountDrops() && (record.thread == 0 || IsTold(record.thread));
}

std::uint32_t EndPhaseOf(std::uint32_t window) {
  const SpinGuard guard(g_lock);
  return IsIn(window, WindowState::kClosed) ? RecordOf(window).end_phase : g_order.end();
}

}  // namespace

void RestartMeasuringWindows() {
  g_lock.Unlock();
  g_order.Restart();
  g_texts = {};
  ++g_regions;
}

std::uint32_t OpenMeasuringWindow(Recording recording, const MeasuringStart& start) {
  SettleWindows(recording);
  const std::uint32_t window = Open(recording.thread().thread, start);
  if (window == 0) return 0;
  RaiseEpoch();
  return HandleOf(window);
}

std::optional<Amount> Measure(Recording recording, std::uint32_t handle, const TextRoom& room) {
  SettleWindows(recording);
  const std::uint32_t window = WindowOf(handle);
  if (!IsIn(window, WindowState::kOpen) && !IsIn(window, WindowState::kClosed)) return {};
  const MeasuringWindowRecord& record = RecordOf(window);
  if (!IsWhole(record)) return {};
  if (HasNothing(record, EndPhaseOf(window))) return Amount{};
  return AskToMeasure(Question::kMeasure, window, room);
}

std::optional<Amount> EndMeasuringWindow(Recording recording, std::uint32_t handle,
                                         const TextRoom& room) {
  SettleWindows(recording);
  const std::uint32_t window = WindowOf(handle);
  const std::uint32_t thread = recording.thread().thread;
  if (!Close(window, thread)) return {};
  RaiseEpoch();
  const MeasuringWindowRecord& record = RecordOf(window);
  if (!IsWhole(record)) return {};
  if (!HasNothing(record, record.end_phase)) {
    return AskToMeasure(Question::kMeasureAtEnd, window, room);
  }
  Forget(window, thread);
  return Amount{};
}

}  // namespace leakgate::agent
