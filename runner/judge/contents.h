// What lost blocks begin with: often the quickest clue to what they are.
#pragma once

#include <array>
#include <cstdint>
#include <set>

#include "runner/attribution/call_sites.h"
#include "runner/base/word_table.h"
#include "runner/result/window_result.h"

namespace leakgate {

// Of which findings the contents are shown (`leakgate run --contents`).
enum class ShownContents {
  kFew,   // of those of a window that has few
  kAll,   // of all
  kNone,  // of none
};
template <>
struct WordTable<ShownContents> {
  static constexpr std::array kWords = {Named{ShownContents::kFew, "few"},
                                        Named{ShownContents::kAll, "all"},
                                        Named{ShownContents::kNone, "none"}};
};

// Reads the first bytes of lost blocks while their process waits: of one block of each call stack,
// that no other lost block leads to, and of few call stacks. Used by one thread.
class ContentsReader {
 public:
  // A process of PID 0 is not read.
  explicit ContentsReader(int pid) : pid_(pid) {}

  // Sets what a lost block begins with (Finding::contents), if it is to be read.
  void Read(const LiveBlock& block, BlockFacts& facts);

 private:
  const int pid_;
  std::set<std::uint32_t> stacks_;  // of which a block has been read
};

// Removes contents that are not to be shown: where a budget file says so, and of a window that has
// many findings with any unless all are asked for.
void LimitContents(ShownContents shown, WindowResult& result);

}  // namespace leakgate
