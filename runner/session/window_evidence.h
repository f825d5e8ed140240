// The parts of a window's evidence that ask the region and the process.
#pragma once

#include <functional>
#include <vector>

#include "runner/judgement/evidence.h"
#include "runner/reach/linux/find_reach.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// The window that evidence is gathered for, and the thread that asks: 0 if the
// process does not wait.
struct EvidenceRequest {
  const RegionReader& region;
  int pid = 0;
  std::uint32_t window = 0;
  int asking_tid = 0;
};

// What `read` tells. Another thread than the asking one may be about to free what it
// holds: it is given a moment, more each time, a tenth of a second in all. Not if
// `asking_tid` is 0.
using ReadBlocks = std::function<Expected<std::vector<LiveBlock>>()>;
[[nodiscard]] Expected<std::vector<LiveBlock>> BlocksAfterAMoment(const RegionReader& region,
                                                                  int asking_tid,
                                                                  const ReadBlocks& read);

// The live blocks of the window, after a moment.
[[nodiscard]] Expected<WindowEvidence> GatherEvidence(const EvidenceRequest& request);

// Says of the blocks of threads older than the window whose they are. With
// ThreadScope::kTest they do not count.
void NameThreads(const EvidenceRequest& request, ThreadScope scope, CallSites& sites,
                 WindowEvidence& evidence);

// Asks which of the candidates are lost; why not, if that cannot be told.
// REQUIRES: the process waits.
[[nodiscard]] std::string FindReach(const EvidenceRequest& request, Variables& variables,
                                    HolderWish holders, CallSites& sites, WindowEvidence& evidence);

// The window's mismatched and double frees.
[[nodiscard]] std::vector<FreeErrorResult> FreeErrorsOf(const RegionReader& region,
                                                        std::uint32_t window, CallSites& sites);

}  // namespace leakgate
