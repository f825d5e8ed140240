// By how much a window is over its budget, in words: the violations of bytes
// and of blocks of one quantity are told together. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/run_result.h"

namespace leakgate {

struct Excess {
  std::string amount;                // "128 B in 2 blocks outstanding", "growth +64 B (+1 block)"
  std::string budget;                // "budget 0 B", "budget 64 B and 1 block"
  std::vector<std::string> sources;  // "net.json:14", "default budget"; each once
  std::vector<std::string> reasons;  // of the overrides that set the limits; each once
};

// Outstanding first, then growth; only what is over its limit. Not made
// printable.
[[nodiscard]] std::vector<Excess> Excesses(const WindowResult& window);

// True if `violation` is one of `quantity`, "outstanding" or "growth".
[[nodiscard]] bool IsOf(const Violation& violation, std::string_view quantity);

}  // namespace leakgate
