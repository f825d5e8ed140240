// What is asked of a look at a process.
#pragma once

#include <functional>
#include <span>

#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/variables.h"

namespace leakgate {

class FileWords;

using BlockFilter = std::function<bool(const LiveBlock& block)>;

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
  FileWords* file_words = nullptr;  // what earlier looks remember; null: nothing
  int asking_tid = 0;  // the thread that waits in the agent for an answer; 0 if there is none
};

}  // namespace leakgate
