// Allowances that the program's own code gives (leakgate/allowance.h): each with its
// reason, kept once for each place and window however often it is given.
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
  std::int64_t bytes;   // at most; -1: no limit
  std::int64_t blocks;  // likewise
};

// What this thread allocates from now on is within the allowance. Returns what held
// before, to be restored at the end.
std::uint32_t BeginAllowance(Recording recording, const GivenAllowance& given);
void RestoreAllowance(Recording recording, std::uint32_t before);

// For a new region: nothing has been given there. REQUIRES: no thread records.
void RestartAllowances();

// The current window means to leave so much.
void ExpectOutstanding(Recording recording, const GivenAllowance& given);

}  // namespace leakgate::agent
