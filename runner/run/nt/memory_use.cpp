#include "runner/base/nt/win32.h"
#include "runner/run/free_memory.h"
#include "runner/run/process_memory_use.h"
// After <windows.h>, whose types it uses.
#include <psapi.h>

namespace leakgate {

std::uint64_t OwnBytesOf(int pid) {
  const UniqueFd process =
      OwnHandle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  PROCESS_MEMORY_COUNTERS_EX use{};
  const bool is_known =
      process &&
      GetProcessMemoryInfo(HandleOf(process), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&use),
                           sizeof(use)) != 0;
  return is_known ? use.PrivateUsage : 0;
}

// The heap of Windows gives memory back by itself.
void GiveBackFreeMemory() {}

}  // namespace leakgate
