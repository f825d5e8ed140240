#include "plugin/agent/on_switch.h"

#include <sys/mman.h>

#include "plugin/agent/host_functions.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {

constinit SwitchPage g_switch{};

bool SwitchOn() {
  if (IsError(RawSyscall(SYS_madvise, Word(&g_switch), sizeof(g_switch), MADV_WIPEONFORK))) {
    return false;
  }
  const bool is_libc = !g_host.allocator_is_foreign;
  const bool only_calls_malloc =
      g_host.operators == OperatorSource::kRuntime || g_host.operators == OperatorSource::kNone;
  g_switch.is_tracing = 1;
  g_switch.traces_libc_malloc = is_libc ? 1 : 0;
  g_switch.traces_runtime_new = is_libc && only_calls_malloc ? 1 : 0;
  return true;
}

void SwitchOff() {
  g_switch.traces_runtime_new = 0;
  g_switch.traces_libc_malloc = 0;
  g_switch.is_tracing = 0;
}

}  // namespace leakgate::agent
