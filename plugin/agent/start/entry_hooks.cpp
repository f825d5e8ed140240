#include "plugin/agent/start/entry_hooks.h"

#include <sys/mman.h>

#include <cstring>

#include "common/entry_hooks.h"
#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/interpose/allocator_calls.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/start/redirected_calls.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

constinit bool g_are_hooked = false;  // forked children inherit the hooks

// Writes code that nobody executes meanwhile.
bool WriteCode(std::uint64_t address, const unsigned char* code, std::size_t bytes) {
  const std::uint64_t page = address / PageBytes() * PageBytes();
  const std::uint64_t end = (address + bytes + PageBytes() - 1) / PageBytes() * PageBytes();
  const auto protect = [&](long protection) {
    return !IsError(RawSyscall(SYS_mprotect, static_cast<long>(page), static_cast<long>(end - page),
                               protection));
  };
  if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  std::memcpy(reinterpret_cast<void*>(address), code, bytes);
  __builtin___clear_cache(reinterpret_cast<char*>(address),
                          reinterpret_cast<char*>(address + bytes));
  return protect(PROT_READ | PROT_EXEC);
}

void* FunctionOf(const EntryHook& hook) {
  const char* const name = kHookedFunctions[hook.function % kHookedFunctionCount];
  void* const function = AgentsFunction(name);
  return function != nullptr ? function
                             : HookAllocatorCall(name, reinterpret_cast<void*>(hook.moved));
}

bool MapHooks(const EntryHooks& hooks) {
  void* const at = reinterpret_cast<void*>(hooks.code_address);
  const long mapped = RawSyscall(SYS_mmap, Word(at), sizeof(hooks.code), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != Word(at)) return false;
  NoteOwnMemory(at, sizeof(hooks.code));
  std::memcpy(at, hooks.code, hooks.code_bytes);
  for (std::uint32_t i = 0; i < hooks.count; ++i) {
    const EntryHook& hook = hooks.hooks[i];
    if (hook.patch_bytes == 0) continue;
    void* const function = FunctionOf(hook);
    // Left as it was.
    void* const target = function != nullptr ? function : reinterpret_cast<void*>(hook.moved);
    std::memcpy(reinterpret_cast<void*>(hook.slot), &target, sizeof(target));
  }
  __builtin___clear_cache(static_cast<char*>(at), static_cast<char*>(at) + hooks.code_bytes);
  return !IsError(RawSyscall(SYS_mprotect, Word(at), sizeof(hooks.code), PROT_READ | PROT_EXEC));
}

}  // namespace

bool HookEntries() {
  const EntryHooks& hooks = g_region.entry_hooks();
  if (hooks.count == 0 || g_are_hooked) return true;
  if (hooks.count > EntryHooks::kMost || hooks.code_bytes > EntryHooks::kMostCodeBytes ||
      !MapHooks(hooks)) {
    return false;
  }
  g_are_hooked = true;
  for (std::uint32_t i = 0; i < hooks.count; ++i) {
    const EntryHook& hook = hooks.hooks[i];
    if (!WriteCode(hook.address, hook.patch, hook.patch_bytes)) return false;
  }
  UseHookedFunctions(hooks);
  return true;
}

}  // namespace leakgate::agent
