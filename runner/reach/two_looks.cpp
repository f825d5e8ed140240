#include <algorithm>
#include <future>

#include "runner/reach/find_reach.h"
#include "runner/reach/look.h"
#include "runner/result/finding.h"

namespace leakgate {
namespace {

// On Linux, the kernel lets the process go when the thread that stopped it ends.
template <typename Result>
Result OnThread(Result (*look)(const ReachRequest&, LookDepth), const ReachRequest& request,
                LookDepth depth) {
  return std::async(std::launch::async, [&] { return look(request, depth); }).get();
}

// Looks once more at blocks that the first look found to be lost. Loss is monotone: a block that is
// lost stays so. Between two looks, what a thread held only in the middle of a step comes to light,
// such as a pointer on its way through a pipe.
Expected<LookResult> LookAgain(ReachRequest request, const std::vector<LiveBlock>& lost) {
  LetThreadsRun(request.pid);
  request.candidates = lost;
  return OnThread(LookAtProcess, request, LookDepth::kSlow);
}

}  // namespace

Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request) {
  LEAKGATE_TRY_ASSIGN(LookResult first, OnThread(LookAtProcess, request, LookDepth::kQuick));
  std::vector<std::size_t> lost;
  std::vector<LiveBlock> candidates;
  for (std::size_t i = 0; i < first.reaches.size(); ++i) {
    if (!IsLost(first.reaches[i].reach)) continue;
    lost.push_back(i);
    candidates.push_back(request.candidates[i]);
  }
  if (lost.empty() || first.depth == LookDepth::kSlow) return std::move(first.reaches);

  LEAKGATE_TRY_ASSIGN(LookResult second, LookAgain(request, candidates));
  for (std::size_t i = 0; i < lost.size(); ++i) {
    first.reaches[lost[i]] = std::move(second.reaches[i]);
  }
  return std::move(first.reaches);
}

Expected<std::optional<std::vector<BlockReach>>> FindAllLost(const ReachRequest& request) {
  // What is in a chunk of a candidate's may be a block of its own.
  if (request.region.HasPools()) return std::nullopt;
  const auto are_lost = [](const LookResult& result) {
    return std::all_of(result.reaches.begin(), result.reaches.end(),
                       [](const BlockReach& reach) { return IsLost(reach.reach); });
  };
  LEAKGATE_TRY_ASSIGN(LookResult look, OnThread(LookForPointers, request, LookDepth::kQuick));
  if (look.depth == LookDepth::kQuick && are_lost(look)) {
    LetThreadsRun(request.pid);
    LEAKGATE_TRY_ASSIGN(look, OnThread(LookForPointers, request, LookDepth::kSlow));
  }
  if (!are_lost(look)) return std::nullopt;
  return std::move(look.reaches);
}

Expected<HeapReach> FindReachOfAll(const ReachRequest& request) {
  Expected<HeapReach> heap = OnThread(LookAtHeap, request, LookDepth::kQuick);
  if (!heap) return heap;
  std::vector<std::size_t> lost;
  std::vector<LiveBlock> candidates;
  for (std::size_t i = 0; i < heap->reaches.size(); ++i) {
    if (!IsLost(heap->reaches[i])) continue;
    lost.push_back(i);
    candidates.push_back(heap->blocks[i]);
  }
  if (lost.empty() || heap->depth == LookDepth::kSlow) return heap;

  LEAKGATE_TRY_ASSIGN(const LookResult second, LookAgain(request, candidates));
  for (std::size_t i = 0; i < lost.size(); ++i) {
    heap->reaches[lost[i]] = second.reaches[i].reach;
    heap->lost_with[lost[i]] = second.reaches[i].lost_with;
  }
  return heap;
}

}  // namespace leakgate
