#include "runner/sessions/memory_limit.h"

#include "runner/base/nt/win32.h"

namespace leakgate {

std::uint64_t MemoryLimit() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof(memory);
  return GlobalMemoryStatusEx(&memory) != 0 ? memory.ullTotalPhys : UINT64_MAX;
}

}  // namespace leakgate
