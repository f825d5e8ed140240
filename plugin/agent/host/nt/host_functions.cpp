#include "plugin/agent/host/nt/host_functions.h"

#include <windows.h>

#include "plugin/agent/host/glibc_chunk.h"
#include "plugin/agent/nt/ntdll.h"

namespace leakgate::agent {
namespace {

void* AllocatePastHooks(std::size_t bytes) {
  return g_ntdll.allocate(::GetProcessHeap(), 0, bytes);
}

}  // namespace

constinit HostFunctions g_host{.malloc = AllocatePastHooks};

// The heap's own bookkeeping is not documented, so a block that is freed twice is not told here.
// The heap itself ends the process then.
bool IsFreeChunk(std::uint64_t) { return false; }

}  // namespace leakgate::agent
