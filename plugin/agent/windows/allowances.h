// Allowances that the program's own code gives (leakgate/allowance.h). Each has its reason, and is
// kept once for each place in the code and window, however often it is given.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/region_layout.h"
#include "plugin/agent/threads/recording.h"

namespace leakgate::agent {

struct GivenAllowance {
  std::string_view reason;
  std::string_view file;
  std::uint32_t line;
  std::int64_t bytes;   // at most so many; -1 for no limit
  std::int64_t blocks;  // likewise
};

// Makes the allowance apply to this thread's allocations from now on. Returns a token for the
// previous allowance, which the same thread must restore at the end: another thread's call has no
// effect.
std::uint32_t BeginAllowance(Recording recording, const GivenAllowance& given);
void RestoreAllowance(Recording recording, std::uint32_t before);

// Must be called when the window, a test or a suite, ends on this thread. If a scope of that window
// is still active, a jump has left it, its object was kept, or another thread has ended it: it is
// noted as left on, and is no longer in force.
void EndAllowancesOf(Recording recording, std::uint32_t window);

// For code that is annotated for other leak checkers. While a thread ignores what it allocates, all
// of it is allowed, beyond the end of the test, too. Calls nest.
void BeginIgnoring(Recording recording);
void EndIgnoring(Recording recording);
// Returns the allowance for blocks that the code has ignored by the function `hook`; 0 if there is
// no room for it.
[[nodiscard]] std::uint32_t IgnoredBy(std::string_view hook);

// Notes the suppressions that the program has for LeakSanitizer.
void NoteSuppressions(Recording recording, std::string_view text);

// Memory that the code declares to have pointers.
struct RootRegion {
  std::uint64_t begin;
  std::uint64_t size_bytes;
};
// Counts how often the region is registered; `change` is 1 or -1.
void CountRootRegion(Recording recording, const RootRegion& region, int change);

// Starts again in another region, where nothing has been given. REQUIRES: no thread records.
void RestartAllowances();

// Notes that the current window leaves so much on purpose.
void ExpectOutstanding(Recording recording, const GivenAllowance& given);

}  // namespace leakgate::agent
