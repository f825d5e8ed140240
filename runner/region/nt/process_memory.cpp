#include "runner/region/process_memory.h"

#include "runner/base/nt/win32.h"
// Behind the above.
#include <psapi.h>

#include <algorithm>

namespace leakgate {
namespace {

UniqueFd Open(int pid) {
  return OwnHandle(::OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, static_cast<DWORD>(pid)));
}

bool HasEnded(const UniqueFd& process) {
  DWORD code = 0;
  return ::GetExitCodeProcess(HandleOf(process), &code) == 0 || code != STILL_ACTIVE;
}

}  // namespace

// The system's heaps may have blocks that are 16 bytes apart.
std::uint64_t LeastBytesOfBlock() { return 16; }

std::optional<std::uint64_t> MappedBytes(int pid, std::uint64_t begin, std::uint64_t bytes) {
  const UniqueFd process = Open(pid);
  if (!process || HasEnded(process)) return std::nullopt;
  const std::uint64_t end = begin + bytes;
  std::uint64_t mapped = 0;
  for (std::uint64_t at = begin; at < end;) {
    MEMORY_BASIC_INFORMATION facts;
    if (::VirtualQueryEx(HandleOf(process), reinterpret_cast<const void*>(at), &facts,
                         sizeof(facts)) == 0) {
      return std::nullopt;
    }
    const std::uint64_t next =
        reinterpret_cast<std::uint64_t>(facts.BaseAddress) + facts.RegionSize;
    if (facts.State == MEM_COMMIT) mapped += std::min(next, end) - at;
    at = next;
  }
  return mapped;
}

std::uint64_t BytesOfMemory(int pid) {
  const UniqueFd process = Open(pid);
  PROCESS_MEMORY_COUNTERS_EX counters{};
  counters.cb = sizeof(counters);
  const bool is_known =
      process && !HasEnded(process) &&
      ::GetProcessMemoryInfo(HandleOf(process),
                             reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters),
                             sizeof(counters)) != 0;
  return is_known ? counters.PrivateUsage : 0;
}

}  // namespace leakgate
