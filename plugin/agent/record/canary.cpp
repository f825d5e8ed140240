#include "plugin/agent/record/canary.h"

#include "plugin/agent/record/recorder.h"

namespace leakgate::agent {
namespace {

// Removes from the counters what the trial has counted.
void ForgetCanary() {
  for (Tally* const tally :
       {&t_thread.state->shard->allocated, &t_thread.state->shard->freed_here}) {
    tally->bytes.store(0, std::memory_order_relaxed);
    tally->blocks.store(0, std::memory_order_relaxed);
  }
}

}  // namespace

bool IsCanarySeen(void* canary, std::size_t bytes, void (*free_canary)(void*)) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(canary));
  if (slot == nullptr || !LiveMap::IsLiveAt(slot)) return false;
  const LiveRecord seen = LiveMap::Read(slot);
  g_trial_block.store(canary, std::memory_order_relaxed);
  free_canary(canary);
  g_trial_block.store(nullptr, std::memory_order_relaxed);
  // Another thread may have got the address since.
  const bool is_still_there =
      LiveMap::IsLiveAt(slot) && LiveMap::Read(slot).context == seen.context;
  if (seen.size_bytes != bytes || is_still_there) return false;
  ForgetCanary();
  return true;
}

}  // namespace leakgate::agent
