// What the agent's core asks about the host's allocator. On Windows that is ntdll's heap, on which
// all runtimes build.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

// Who provides operator new and delete: not distinguished here, where only the heap is seen.
enum class OperatorSource { kNone, kRuntime, kAllocator, kProgram };

struct HostFunctions {
  void* (*malloc)(std::size_t) = nullptr;  // from the process's heap, past the hooks
  void (*exit_now)(int) = nullptr;
  bool allocator_is_foreign = false;
  bool is_hooked = false;
  bool frees_any_kind = false;
  OperatorSource operators = OperatorSource::kNone;
  bool operators_are_ours = false;
};

extern LEAKGATE_INTERNAL HostFunctions g_host;

// Returns whether `pc` is in an allocator that maps memory for blocks that are counted themselves.
constexpr bool IsForeignAllocators(std::uint64_t) { return false; }

}  // namespace leakgate::agent
