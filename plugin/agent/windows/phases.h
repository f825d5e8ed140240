// Phases: numbers that stand for the measuring windows that were open when a block was allocated
// (measuring_windows.h opens them; common/region_layout.h explains the numbers).
//
// Each phase has a count of its blocks, like a window. What has not been handed over to the count
// yet is in the shards whose `phase` it is. Phase 0, when no measuring window is open, is not
// counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

inline constexpr std::uint32_t kMaxPhases = 1U << 20;

// The phases from `first` to less than `end`.
struct PhaseRange {
  std::uint32_t first;
  std::uint32_t end;
};

struct PhaseCount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

extern LEAKGATE_INTERNAL std::atomic<std::uint32_t> g_phase;

// Returns the phase of present allocations. It is changed before the epoch is raised. Acquire pairs
// with the release in PhaseOrder::Enter: the table exists, and the phase's record contains the
// thread that began it.
inline std::uint32_t CurrentPhase() { return g_phase.load(std::memory_order_acquire); }

// Maps the table of phases at the first call. REQUIRES: only one thread calls it at a time.
[[nodiscard]] bool EnsurePhases();

// Forgets the phases below `end`: none has begun. REQUIRES: nothing is traced.
void ForgetPhases(std::uint32_t end);

void AddToPhase(std::uint32_t phase, std::int64_t bytes, std::int64_t blocks);
// Returns what the records of the phases hold.
[[nodiscard]] PhaseCount CountOf(const PhaseRange& phases);

// A phase whose blocks are all gone may begin again, if no thread except the one that began it was
// ever in it. Another thread might be about to count a block.
//
// Notes that `thread` is about to count for `phase`.
void NotePhaseOf(std::uint32_t phase, std::uint32_t thread);
// Begins `phase` on behalf of `thread`. Returns false if that is not allowed, since another thread
// began it or was in it.
[[nodiscard]] bool BeginPhase(std::uint32_t phase, std::uint32_t thread);
[[nodiscard]] bool MayBeginAgain(std::uint32_t phase, std::uint32_t thread);

}  // namespace leakgate::agent
