#include "plugin/agent/start/entry_hooks.h"

#include <sys/mman.h>

#include <cstring>

#include "common/entry_hooks.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/linux/page_protections.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/start/named_calls.h"
#include "plugin/agent/start/redirected_calls.h"

namespace leakgate::agent {
namespace {

constinit bool g_are_hooked = false;  // forked children inherit the hooks

// What the hook's slot is to have.
struct Slot {
  void* pushed;
  void* code;
};

void* FunctionOf(const EntryHook& hook) {
  const char* const name = kHookedFunctions[hook.function];
  void* const function = AgentsFunction(name);
  return function != nullptr ? function
                             : HookAllocatorCall(name, reinterpret_cast<void*>(hook.moved));
}

Slot SlotOf(const EntryHooks& hooks, const EntryHook& hook) {
  if (hook.function >= kHookedFunctionCount) {
    const auto number =
        static_cast<std::uint32_t>((hook.function - kHookedFunctionCount) % EntryHooks::kMostNamed);
    return {&MakeNamedCallPlace(number, hook.moved, hooks.named[number]), CodeThatCallsNamed()};
  }
  void* const function = FunctionOf(hook);
  // Left as it was.
  return {function != nullptr ? function : reinterpret_cast<void*>(hook.moved), CodeThatEnters()};
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
    const Slot slot = SlotOf(hooks, hook);
    std::memcpy(reinterpret_cast<void*>(hook.slot), &slot, sizeof(slot));
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
  // Before the first change: should a later one fail, what has been led to the agent comes back to
  // the program's own functions.
  if (hooks.has_allocator != 0) UseHookedFunctions(hooks);
  for (std::uint32_t i = 0; i < hooks.count; ++i) {
    const EntryHook& hook = hooks.hooks[i];
    const bool is_other_name = hook.patch_bytes == 0;
    if (!is_other_name && !WriteCode(hook.address, hook.patch, hook.patch_bytes)) return false;
  }
  return true;
}

}  // namespace leakgate::agent
