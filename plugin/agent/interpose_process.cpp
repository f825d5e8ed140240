// Ends of the process that skip its exit handlers, and the unloading of modules.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "plugin/agent/interpose.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/module_table.h"
#include "plugin/agent/windows.h"

using namespace leakgate::agent;

namespace {

// A vfork child shares the parent's memory, but its end is not the parent's.
void NoteImmediateEnd() {
  if (CurrentRoute() != Route::kTrace) return;
  leakgate::RegionHeader& header = g_region.header();
  if (CurrentPid() != header.pid) return;
  SettleBeforeEnd();
  header.program_end.store(static_cast<std::uint32_t>(leakgate::ProgramEnd::kImmediate),
                           std::memory_order_release);
}

}  // namespace

LEAKGATE_EXPORT void _exit(int status) {
  NoteImmediateEnd();
  g_host.exit_now(status);
  __builtin_unreachable();
}

LEAKGATE_EXPORT void _Exit(int status) noexcept {
  NoteImmediateEnd();
  g_host.exit_now_c(status);
  __builtin_unreachable();
}

LEAKGATE_EXPORT void quick_exit(int status) noexcept {
  NoteImmediateEnd();
  g_host.quick_exit(status);
  __builtin_unreachable();
}

// Before: what is unmapped next must not be read by a stale rule. After: what
// another thread looked up meanwhile is stale too.
LEAKGATE_EXPORT int dlclose(void* module) noexcept {
  if (CurrentRoute() == Route::kForward) return g_host.dlclose(module);
  g_modules.ModulesMayHaveGone();
  const int result = g_host.dlclose(module);
  g_modules.ModulesMayHaveGone();
  return result;
}
