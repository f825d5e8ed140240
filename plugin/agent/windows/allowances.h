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

// Puts what this thread allocates from now on within the allowance. Returns what stands for the
// allowance that held before, which is to be restored at the end, by the same thread: another one's
// call is without effect.
std::uint32_t BeginAllowance(Recording recording, const GivenAllowance& given);
void RestoreAllowance(Recording recording, std::uint32_t before);

// The window, a test or a suite, ends on this thread. A scope of that window that still holds was
// left by a jump, is kept by somebody, or was ended by another thread: it is noted as left on, and
// holds no longer.
void EndAllowancesOf(Recording recording, std::uint32_t window);

// Begins anew, in another region, where nothing has been given. REQUIRES: no thread records.
void RestartAllowances();

// Notes that the current window means to leave so much.
void ExpectOutstanding(Recording recording, const GivenAllowance& given);

}  // namespace leakgate::agent
