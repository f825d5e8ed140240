#include "tests/stack_check/other_unwinders.h"

#include <dlfcn.h>

#include <cstring>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/threads/thread_state.h"

namespace leakgate::check {
namespace {

constinit Libunwind g_libunwind{};
constinit bool g_is_loaded = false;

template <typename Function>
bool Resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool ResolveAll(void* library, Libunwind& found) {
  return library != nullptr &&
         (!kHasContextGetter || Resolve(library, kContextGetter, found.getcontext)) &&
         Resolve(library, LEAKGATE_TEXT(unw_init_local), found.init_local) &&
         Resolve(library, LEAKGATE_TEXT(unw_step), found.step) &&
         Resolve(library, LEAKGATE_TEXT(unw_get_reg), found.get_reg) &&
         Resolve(library, LEAKGATE_TEXT(unw_flush_cache), found.flush_cache) &&
         Resolve(library, LEAKGATE_TEXT(unw_local_addr_space), found.local_addr_space);
}

// At an allocation the dynamic linker may be at work: in a constructor it may
// be asked. What it allocates is not the program's.
__attribute__((constructor)) void LoadLibunwind() {
  const bool is_recorded = agent::IsTracing() && agent::EnsureThread();
  if (is_recorded) agent::t_thread.activity = agent::Activity::kAllocator;
  g_is_loaded = ResolveAll(dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL), g_libunwind);
  if (is_recorded) agent::t_thread.activity = agent::Activity::kHost;
}

}  // namespace

bool IsSignalTrampoline(std::uint64_t pc) {
  constexpr std::size_t kBytes = sizeof(kTrampoline);
  return agent::IsReadable(pc) && agent::IsReadable(pc + kBytes - 8) &&
         std::memcmp(reinterpret_cast<const void*>(pc), kTrampoline, kBytes) == 0;
}

const Libunwind* LoadedLibunwind() { return g_is_loaded ? &g_libunwind : nullptr; }

}  // namespace leakgate::check
