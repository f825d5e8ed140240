// A program's own operator new may keep account of all that it has handed out: to report leaks, or
// to check what is deleted. That account leads to lost blocks as well, so it says nothing of who
// still uses them.
//
//   static Header g_all;    g_all -> [header|object] -> [header|object]   a list of headers
//   static Map g_live;      g_live -> [node] -> [object]                  a table of objects
//
// What the account is, is learnt by trial, from a process that is launched for that
// (common/operator_probe.h): objects that nobody kept are lost, so whatever leads to one is the
// account. It is known in full when, without it, all of them are lost. A pointer to what lies in
// front of the object is the allocator's in any case, since the program has never seen it.
//
// Nothing is learnt where an object that was deleted is not freed at once, or two objects share a
// block, as of an arena, a pool or a quarantine, or where no static variable holds the account.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/operator_probe.h"
#include "runner/base/expected.h"
#include "runner/reach/find_reach.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// The call of malloc within operator new that has made a block, and where the object is in that.
struct HandingOut {
  std::vector<FileAddress> callers;  // from malloc's caller up to operator new
  std::string name;                  // of operator new, demangled
  std::uint64_t header_bytes = 0;    // in front of the object
};

struct OperatorAccount {
  struct Variable {
    std::string path;
    VariableExtent extent;
  };
  std::vector<HandingOut> handing_out;  // empty: there is no account, or it is not known
  std::vector<FileAddress> making_own;  // callers within operator new, by which it makes nodes
  std::vector<Variable> variables;
  std::uint32_t entries = 1;  // how many words of the variables point to one object
};

// Learns the account from what the waiting process has tried. `request` has no candidates. Reads
// the process several times; fails as FindReach does.
[[nodiscard]] Expected<OperatorAccount> LearnAccount(std::span<const ProbedObject> probed,
                                                     const ReachRequest& request);

// Returns the account as it is in another process of the same program, which has `blocks`. Where a
// compiler has inlined operator new, only debug information tells; with no symbolizer, nothing
// does.
[[nodiscard]] IgnoredAccount FindAccount(const OperatorAccount& account,
                                         std::span<const LiveBlock> blocks,
                                         const RegionReader& region, Symbolizer* symbolizer);

}  // namespace leakgate
