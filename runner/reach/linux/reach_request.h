// What is asked of a look at a process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/reach/linux/process_memory.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class FileWords;

using BlockFilter = std::function<bool(const LiveBlock& block)>;

// What the program's own operator new keeps for itself (operator_account.h), and so says nothing of
// who still uses a block.
struct IgnoredAccount {
  std::vector<AddressRange> variables;
  static constexpr std::uint64_t kWholeBlock = ~std::uint64_t{0};
  // How many bytes in front of the object the blocks have that operator new hands out, by call
  // stack; kWholeBlock for those that it makes for itself.
  std::unordered_map<std::uint32_t, std::uint64_t> header_bytes;

  [[nodiscard]] bool IsHandedOut(std::uint32_t stack) const {
    const auto known = header_bytes.find(stack);
    return known != header_bytes.end() && known->second != kWholeBlock;
  }
};

struct ReachRequest {
  int pid = 0;
  const RegionReader& region;
  std::span<const LiveBlock> candidates;  // in any order; FindReachOfAll has none
  Variables& variables;                   // names of holders come from here
  // Whether what holds a retained block is to be named, which takes longer than looking. Only one
  // block of each stack gets a holder, because a report shows no more. Null: none.
  BlockFilter names_holder = nullptr;
  // Whether a block was found lost by an earlier look: then it needs no other. Null: none was.
  BlockFilter is_known_lost = nullptr;
  const IgnoredAccount* ignored = nullptr;  // null: nothing
  FileWords* file_words = nullptr;          // what earlier looks remember; null: nothing
  int asking_tid = 0;  // the thread that waits in the agent for an answer; 0 if there is none
};

}  // namespace leakgate
