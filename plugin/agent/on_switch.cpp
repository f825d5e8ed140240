#include "plugin/agent/on_switch.h"

#include <sys/mman.h>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {

constinit SwitchPage g_switch{};

bool SwitchOn() {
  if (IsError(RawSyscall(SYS_madvise, Word(&g_switch), sizeof(g_switch), MADV_WIPEONFORK))) {
    return false;
  }
  g_switch.is_tracing = 1;
  return true;
}

}  // namespace leakgate::agent
