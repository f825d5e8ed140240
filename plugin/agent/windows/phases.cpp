#include "plugin/agent/windows/phases.h"

#include "common/region_layout.h"
#include "plugin/agent/base/region.h"

namespace leakgate::agent {

constinit std::atomic<std::uint32_t> g_phase{0};

namespace {

// Loads and stores of the last two are relaxed. `thread` is written under the lock of measuring
// windows, before the phase is entered, which is a release. If a thread was in the phase before a
// window opened, and the program itself orders the two, it has stored `is_shared` before BeginPhase
// reads it, which reads it once more when it begins the phase again
// (tests/unit/memory_model/phase_test.cpp).
struct PhaseRecord {
  std::atomic<std::int64_t> live_bytes;
  std::atomic<std::int64_t> live_blocks;
  std::atomic<std::uint32_t> thread;     // the thread that began it; 0: none has
  std::atomic<std::uint32_t> is_shared;  // 1: another thread has been in it
};

// Null until the first measuring window. Release in EnsurePhases pairs with the acquire in
// RecordOf.
constinit std::atomic<PhaseRecord*> g_records{nullptr};

PhaseRecord& RecordOf(std::uint32_t phase) {
  return g_records.load(std::memory_order_acquire)[phase];
}

}  // namespace

bool EnsurePhases() {
  if (g_records.load(std::memory_order_relaxed) != nullptr) return true;
  void* const table = MapOwn(kMaxPhases * sizeof(PhaseRecord));
  g_records.store(static_cast<PhaseRecord*>(table), std::memory_order_release);
  return table != nullptr;
}

void ForgetPhases(std::uint32_t end) {
  PhaseRecord* const records = g_records.load(std::memory_order_relaxed);
  if (records == nullptr) return;
  NoteOwnMemory(records, kMaxPhases * sizeof(PhaseRecord));
  for (std::uint32_t phase = 0; phase < end; ++phase) {
    records[phase].live_bytes.store(0, std::memory_order_relaxed);
    records[phase].live_blocks.store(0, std::memory_order_relaxed);
    records[phase].thread.store(0, std::memory_order_relaxed);
    records[phase].is_shared.store(0, std::memory_order_relaxed);
  }
}

void AddToPhase(std::uint32_t phase, std::int64_t bytes, std::int64_t blocks) {
  if (phase == 0) return;
  PhaseRecord& record = RecordOf(phase);
  // Release, as in AddToRecord (counters.cpp).
  record.live_bytes.fetch_add(bytes, std::memory_order_release);
  record.live_blocks.fetch_add(blocks, std::memory_order_release);
}

PhaseCount CountOf(const PhaseRange& phases) {
  PhaseCount sum;
  for (std::uint32_t phase = phases.first; phase < phases.end; ++phase) {
    sum.bytes += RecordOf(phase).live_bytes.load(std::memory_order_relaxed);
    sum.blocks += RecordOf(phase).live_blocks.load(std::memory_order_relaxed);
  }
  return sum;
}

void NotePhaseOf(std::uint32_t phase, std::uint32_t thread) {
  if (phase == 0) return;
  PhaseRecord& record = RecordOf(phase);
  if (record.thread.load(std::memory_order_relaxed) == thread) return;
  record.is_shared.store(1, std::memory_order_relaxed);
}

bool MayBeginAgain(std::uint32_t phase, std::uint32_t thread) {
  const PhaseRecord& record = RecordOf(phase);
  const bool is_told_apart = thread != kMaxThreads - 1;
  return is_told_apart && record.thread.load(std::memory_order_relaxed) == thread &&
         record.is_shared.load(std::memory_order_relaxed) == 0;
}

bool BeginPhase(std::uint32_t phase, std::uint32_t thread) {
  PhaseRecord& record = RecordOf(phase);
  if (record.thread.load(std::memory_order_relaxed) != 0) return MayBeginAgain(phase, thread);
  record.thread.store(thread, std::memory_order_relaxed);
  return true;
}

}  // namespace leakgate::agent
