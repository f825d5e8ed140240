// The unwind rules of the pcs that a thread has walked through, by pc. Direct
// mapped; a collision costs a look-up, never a wrong answer.
//
// Used by its own thread only. Forget() when a module may have been unmapped.
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/unwind_rule.h"

namespace leakgate::agent {

class RuleCache {
 public:
  // REQUIRES: zeroed memory, which it leaves untouched: of most entries a thread
  // never has use.
  RuleCache() {}  // NOLINT(modernize-use-equals-default): the entries are a union's

  struct Entry {
    std::uint64_t lookup_pc = 0;
    std::uint32_t module = 0;
    UnwindRule rule;
  };

  // The entry's place, by Fibonacci hashing (Knuth, TAOCP 6.4): holds `lookup_pc` if it was cached,
  // else is for the caller to fill.
  Entry& Slot(std::uint64_t lookup_pc) {
    return entries_[(lookup_pc * 0x9E37'79B9'7F4A'7C15ULL) >> (64 - kBits)];
  }

  void Forget() {
    for (Entry& entry : entries_) entry = {};
  }

 private:
  static constexpr std::uint32_t kBits = 12;
  static constexpr std::uint32_t kEntries = 1U << kBits;

  union {
    Entry entries_[kEntries];
  };
};
static_assert(sizeof(RuleCache::Entry) == 32);

}  // namespace leakgate::agent
