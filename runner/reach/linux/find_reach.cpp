#include "runner/reach/linux/find_reach.h"

#include <algorithm>
#include <future>

#include "runner/reach/linux/look.h"
#include "runner/reach/linux/threads_run.h"
#include "runner/result/finding.h"

namespace leakgate {
namespace {

// The kernel lets the process go when the thread that stopped it ends.
Expected<LookResult> LookOnThread(const ReachRequest& request, LookDepth depth) {
  return std::async(std::launch::async, [&] { return LookAtProcess(request, depth); }).get();
}

// Returns which of the candidates are lost by `reaches`, by their numbers.
std::vector<std::size_t> LostIn(const std::vector<BlockReach>& reaches) {
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    if (IsLost(reaches[i].reach)) lost.push_back(i);
  }
  return lost;
}

}  // namespace

// Loss is monotone: a block that is lost stays so. Between two looks, what a thread held only in
// the middle of a step comes to light, such as a pointer on its way through a pipe.
Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request) {
  Expected<LookResult> first = LookOnThread(request, LookDepth::kQuick);
  if (!first) return Unexpected(first.error());
  const std::vector<std::size_t> lost = LostIn(first->reaches);
  if (lost.empty() || first->depth == LookDepth::kSlow) return std::move(first->reaches);

  ThreadsRun(request.pid).Wait();
  std::vector<LiveBlock> candidates;
  for (const std::size_t i : lost) candidates.push_back(request.candidates[i]);
  ReachRequest again = request;
  again.candidates = candidates;
  Expected<LookResult> second = LookOnThread(again, LookDepth::kSlow);
  if (!second) return Unexpected(second.error());
  for (std::size_t i = 0; i < lost.size(); ++i) {
    first->reaches[lost[i]] = std::move(second->reaches[i]);
  }
  return std::move(first->reaches);
}

}  // namespace leakgate
