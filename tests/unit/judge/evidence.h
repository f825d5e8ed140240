// Evidence in few words, for tests of judgement: stack 1 is the user's pool,
// stack 2 the user's cache, stack 3 the framework's, stack 4 the pool for another caller.
#pragma once

#include <stdexcept>
#include <vector>

#include "runner/judge/window_evidence.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {

inline constexpr std::uint32_t kPool = 1;
inline constexpr std::uint32_t kCache = 2;
inline constexpr std::uint32_t kFrameworks = 3;
inline constexpr std::uint32_t kPoolByAnother = 4;

inline ResolvedStack StackOf(std::uint32_t stack) {
  switch (stack) {
    case kPool:
      return {{In("net::Pool::Grow()"), In("main")}, UnwindEnd::kOutermost};
    case kCache:
      return {{In("net::Cache::Put()"), In("main")}, UnwindEnd::kOutermost};
    case kFrameworks:
      return {{InLibc(), Calling("net::Start()", "setenv")}, UnwindEnd::kOutermost};
    case kPoolByAnother:
      return {{In("net::Pool::Grow()"), In("net::Start()"), In("main")}, UnwindEnd::kOutermost};
    default:
      throw std::out_of_range("no such stack");
  }
}

struct KnownBlock {
  std::uint32_t stack = kPool;
  Reach reach = Reach::kRetained;
  Disposition disposition = Disposition::kOutstanding;
};

// Blocks of 64 bytes of window 5, one after the other.
inline WindowEvidence EvidenceOf(const std::vector<KnownBlock>& known) {
  WindowEvidence evidence;
  for (const KnownBlock& one : known) {
    LiveBlock block;
    block.address = 0x1000 + evidence.blocks.size() * 0x100;
    block.size_bytes = 64;
    block.stack = one.stack;
    block.window = 5;
    evidence.blocks.push_back(block);
    BlockFacts facts;
    facts.reach = one.reach;
    facts.disposition = one.disposition;
    evidence.facts.push_back(facts);
  }
  return evidence;
}

inline std::vector<Disposition> DispositionsOf(const WindowEvidence& evidence) {
  std::vector<Disposition> dispositions;
  for (const BlockFacts& facts : evidence.facts) dispositions.push_back(facts.disposition);
  return dispositions;
}

}  // namespace leakgate
