#include "plugin/agent/record/free_errors.h"

#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/host/glibc_chunk.h"
#include "plugin/agent/host/host_functions.h"

namespace leakgate::agent {
namespace {

constinit SpinLock g_lock;

bool IsTheSame(const FreeError& a, const FreeError& b) {
  return a.window == b.window && a.kind == b.kind && a.free_kind == b.free_kind &&
         a.free_stack == b.free_stack && a.allocation_stack == b.allocation_stack;
}

// Searches from the newest: an error that repeats mostly does so at once.
bool IsKnown(const FreeError& error, std::uint32_t count) {
  for (std::uint32_t i = count; i > 0; --i) {
    if (IsTheSame(g_region.free_errors()[i - 1], error)) return true;
  }
  return false;
}

// Returns 0 if it is not known.
std::uint32_t CallingModule(std::uint32_t stack) {
  return stack < kStackRootCount ? 0 : g_region.stacks()[stack].module;
}

bool IsCLibrary(std::uint32_t module) {
  const ModuleRecord& record = g_region.modules()[module];
  const auto inside = reinterpret_cast<std::uint64_t>(g_host.exit_now);
  return inside >= record.begin && inside < record.end;
}

}  // namespace

bool IsSureMismatch(std::uint32_t free_stack, std::uint32_t allocation_stack) {
  if (g_host.operators != OperatorSource::kRuntime || !g_host.operators_are_ours) return false;
  const std::uint32_t freeing = CallingModule(free_stack);
  const std::uint32_t allocating = CallingModule(allocation_stack);
  if (freeing == 0 || allocating == 0) return false;
  return freeing == allocating || IsCLibrary(freeing) || IsCLibrary(allocating);
}

bool IsFreedBlock(std::uint64_t address) {
  return !g_host.allocator_is_foreign && IsFreeChunk(address);
}

void RestartFreeErrors() { g_lock.Reset(); }

void NoteFreeError(const FreeError& error) {
  const SpinGuard guard(g_lock);
  std::atomic<std::uint32_t>& count = g_region.header().free_error_count;
  const std::uint32_t index = count.load(std::memory_order_relaxed);
  if (IsKnown(error, index < kMaxFreeErrors ? index : kMaxFreeErrors)) return;
  if (index < kMaxFreeErrors) g_region.free_errors()[index] = error;
  // Release: the runner acquires the count before it reads the record.
  if (index != UINT32_MAX) count.store(index + 1, std::memory_order_release);
}

}  // namespace leakgate::agent
