#include "plugin/agent/host/linux/host_functions.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <cstring>
#include <initializer_list>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/call_slots.h"
#include "plugin/agent/linux/find_object.h"

#include LEAKGATE_ARCH(elf)

namespace leakgate::agent {

constinit HostFunctions g_host{};

namespace {

constinit const EntryHooks* g_hooks = nullptr;  // while UseHookedFunctions runs

// Returns the executable's function of this name, as it was before its entry was hooked.
void* FindHooked(const char* name) {
  if (g_hooks == nullptr) return nullptr;
  for (std::uint32_t i = 0; i < g_hooks->count; ++i) {
    const EntryHook& hook = g_hooks->hooks[i];
    if (hook.function >= kHookedFunctionCount) continue;
    if (std::strcmp(kHookedFunctions[hook.function], name) == 0) {
      return reinterpret_cast<void*>(hook.moved);
    }
  }
  return nullptr;
}

// A direct call of dlsym would lead to the agent's own dlsym.
template <typename Function>
void Resolve(Function*& function, const char* name, void* where = RTLD_NEXT) {
  if (void* const hooked = FindHooked(name); hooked != nullptr) {
    function = reinterpret_cast<Function*>(hooked);
    return;
  }
  const bool is_own_search = g_host.is_late && where == RTLD_NEXT;
  function =
      reinterpret_cast<Function*>(is_own_search ? FindHost(name) : g_host.dlsym(where, name));
}

template <typename Function>
const link_map* Owner(Function* function) {
  return function == nullptr ? nullptr : FindLinkMap(reinterpret_cast<const void*>(function));
}

bool IsNamed(const link_map* module, const char* stem) {
  if (module == nullptr || module->l_name == nullptr) return false;
  const char* const slash = std::strrchr(module->l_name, '/');
  const char* const name = slash == nullptr ? module->l_name : slash + 1;
  return std::strncmp(name, stem, std::strlen(stem)) == 0;
}

void ResolveMalloc() {
  Resolve(g_host.malloc, "malloc");
  Resolve(g_host.free, "free");
  Resolve(g_host.calloc, "calloc");
  Resolve(g_host.realloc, "realloc");
  Resolve(g_host.memalign, "memalign");
  Resolve(g_host.aligned_alloc, "aligned_alloc");
  Resolve(g_host.posix_memalign, "posix_memalign");
  Resolve(g_host.valloc, "valloc");
  Resolve(g_host.pvalloc, "pvalloc");
  Resolve(g_host.libc_malloc, "__libc_malloc");
  Resolve(g_host.libc_free, "__libc_free");
  Resolve(g_host.libc_calloc, "__libc_calloc");
  Resolve(g_host.libc_realloc, "__libc_realloc");
  Resolve(g_host.libc_memalign, "__libc_memalign");
  Resolve(g_host.libc_valloc, "__libc_valloc");
  Resolve(g_host.libc_pvalloc, "__libc_pvalloc");
}

// The names are the Itanium C++ ABI's.
void ResolveNew(void* where) {
  Resolve(g_host.op_new, "_Znwm", where);
  Resolve(g_host.op_new_array, "_Znam", where);
  Resolve(g_host.op_new_nothrow, "_ZnwmRKSt9nothrow_t", where);
  Resolve(g_host.op_new_array_nothrow, "_ZnamRKSt9nothrow_t", where);
  Resolve(g_host.op_new_aligned, "_ZnwmSt11align_val_t", where);
  Resolve(g_host.op_new_array_aligned, "_ZnamSt11align_val_t", where);
  Resolve(g_host.op_new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", where);
  Resolve(g_host.op_new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t", where);
}

void ResolveDelete(void* where) {
  Resolve(g_host.op_delete, "_ZdlPv", where);
  Resolve(g_host.op_delete_array, "_ZdaPv", where);
  Resolve(g_host.op_delete_sized, "_ZdlPvm", where);
  Resolve(g_host.op_delete_array_sized, "_ZdaPvm", where);
  Resolve(g_host.op_delete_nothrow, "_ZdlPvRKSt9nothrow_t", where);
  Resolve(g_host.op_delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", where);
  Resolve(g_host.op_delete_aligned, "_ZdlPvSt11align_val_t", where);
  Resolve(g_host.op_delete_array_aligned, "_ZdaPvSt11align_val_t", where);
  Resolve(g_host.op_delete_sized_aligned, "_ZdlPvmSt11align_val_t", where);
  Resolve(g_host.op_delete_array_sized_aligned, "_ZdaPvmSt11align_val_t", where);
  Resolve(g_host.op_delete_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t", where);
  Resolve(g_host.op_delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t", where);
}

void ResolveMmap() {
  Resolve(g_host.mmap, "mmap");
  Resolve(g_host.mmap64, "mmap64");
  Resolve(g_host.munmap, "munmap");
  Resolve(g_host.mremap, "mremap");
  Resolve(g_host.mprotect, "mprotect");
  Resolve(g_host.pkey_mprotect, "pkey_mprotect");
  Resolve(g_host.shmat, "shmat");
  Resolve(g_host.shmdt, "shmdt");
  Resolve(g_host.sbrk, "sbrk");
  Resolve(g_host.brk, "brk");
  Resolve(g_host.syscall, "syscall");
  Resolve(g_host.mlockall, "mlockall");
}

void FindAllocator() {
  const link_map* const allocator = Owner(g_host.malloc);
  g_host.allocator_is_foreign = !IsNamed(allocator, "libc.so");
  LoadedObject object;
  if (allocator == nullptr || !FindObject(reinterpret_cast<const void*>(g_host.malloc), object)) {
    return;
  }
  g_host.allocator_begin = object.begin;
  g_host.allocator_end = object.end;
}

void ResolveOthers() {
  Resolve(g_host.pthread_create, "pthread_create");
  Resolve(g_host.dlclose, "dlclose");
  Resolve(g_host.dlopen, "dlopen");
  Resolve(g_host.dlmopen, "dlmopen");
  Resolve(g_host.libc_start_main, "__libc_start_main");
  Resolve(g_host.exit, "exit");
  Resolve(g_host.exit_now, "_exit");
  Resolve(g_host.exit_now_c, "_Exit");
  Resolve(g_host.quick_exit, "quick_exit");
  Resolve(g_host.prctl, "prctl");
  Resolve(g_host.sigaltstack, "sigaltstack");
  Resolve(g_host.execve, "execve");
  Resolve(g_host.execvpe, "execvpe");
  Resolve(g_host.fexecve, "fexecve");
  Resolve(g_host.execveat, "execveat");
  Resolve(g_host.posix_spawn, "posix_spawn");
  Resolve(g_host.posix_spawnp, "posix_spawnp");
  Resolve(g_host.getenv, "getenv");
  Resolve(g_host.write, "write");
  Resolve(g_host.close, "close");
  Resolve(g_host.socket, "socket");
  Resolve(g_host.connect, "connect");
  Resolve(g_host.getaddrinfo, "getaddrinfo");
  Resolve(g_host.freeaddrinfo, "freeaddrinfo");
}

// Returns whether the program defines none of the operators. One that it defines comes before the
// agent's in the search order; if the agent was loaded late, before the runtime's.
bool OperatorsAreOurs() {
  const link_map* const expected =
      g_host.is_late ? Owner(g_host.op_new) : Owner(&ResolveHostFunctions);
  for (const char* const name : {"_Znwm",
                                 "_Znam",
                                 "_ZnwmRKSt9nothrow_t",
                                 "_ZnamRKSt9nothrow_t",
                                 "_ZnwmSt11align_val_t",
                                 "_ZnamSt11align_val_t",
                                 "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                 "_ZnamSt11align_val_tRKSt9nothrow_t",
                                 "_ZdlPv",
                                 "_ZdaPv",
                                 "_ZdlPvm",
                                 "_ZdaPvm",
                                 "_ZdlPvRKSt9nothrow_t",
                                 "_ZdaPvRKSt9nothrow_t",
                                 "_ZdlPvSt11align_val_t",
                                 "_ZdaPvSt11align_val_t",
                                 "_ZdlPvmSt11align_val_t",
                                 "_ZdaPvmSt11align_val_t",
                                 "_ZdlPvSt11align_val_tRKSt9nothrow_t",
                                 "_ZdaPvSt11align_val_tRKSt9nothrow_t"}) {
    void (*first)() = nullptr;
    Resolve(first, name, g_host.is_late ? RTLD_NEXT : RTLD_DEFAULT);
    if (Owner(first) != expected) return false;
  }
  return true;
}

// Returns the position of the module after `module` in the order of loading. Modules that were
// loaded with the program are never unloaded, so their positions stay.
std::uint32_t PlaceBehind(const link_map* module) {
  std::uint32_t place = 0;
  for (; module != nullptr; module = module->l_prev) ++place;
  return place;
}

// REQUIRES: the agent came first.
std::uint32_t PlaceBehindAgent() { return PlaceBehind(Owner(&ResolveHostFunctions)); }

// REQUIRES: no thread loads modules at the moment, as when the process begins.
ModuleRange ModulesBehindAgent() {
  ModuleRange range{.first = PlaceBehindAgent(), .end = PlaceBehindAgent()};
  const link_map* map = Owner(&ResolveHostFunctions)->l_next;
  for (; map != nullptr; map = map->l_next) ++range.end;
  return range;
}

// REQUIRES: g_host.operators_are_ours is known.
OperatorSource FindOperatorSource() {
  const link_map* const provider = Owner(g_host.op_new);
  if (provider == nullptr) return OperatorSource::kNone;
  if (IsNamed(provider, "libstdc++.so") || IsNamed(provider, "libc++.so") ||
      IsNamed(provider, "libc++abi.so")) {
    // The operators that the program leaves to the runtime call those that the program defines.
    return g_host.operators_are_ours ? OperatorSource::kRuntime : OperatorSource::kProgram;
  }
  return provider == Owner(g_host.malloc) ? OperatorSource::kAllocator : OperatorSource::kProgram;
}

}  // namespace

// In the order of loading, the C library comes after the agent only if the agent was loaded first.
// The C library is recognised by a function that hardly any program interposes.
bool IsLoadedLate() {
  const link_map* const libc = Owner(&::gnu_get_libc_version);
  for (const link_map* map = Owner(&ResolveHostFunctions); map != nullptr; map = map->l_next) {
    if (map == libc) return false;
  }
  return libc != nullptr;
}

void FindOperators() {
  if (g_host.operators != OperatorSource::kNone) return;
  ResolveNew(RTLD_NEXT);
  ResolveDelete(RTLD_NEXT);
  g_host.operators_are_ours = OperatorsAreOurs();
  // Stored last, with release: see LEAKGATE_HOST in interpose/interpose_new.cpp.
  std::atomic_ref(g_host.operators).store(FindOperatorSource(), std::memory_order_release);
}

// If the agent was loaded first, the modules before it may use its own functions.
ModuleRange HostModules() {
  return IsLoadedLate() ? ModuleRange{} : ModuleRange{.first = PlaceBehindAgent()};
}

// The agent's own dlsym is found first, and has no version. The C library's has the first of these
// versions since it was moved there from libdl, where it had the other. Modules are not iterated:
// the runtime of a sanitizer interposes the function for that, and may not have begun.
void* NextDefinition(const char* name) {
  using Dlsym = void* (*)(void*, const char*);
  void* libcs = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (libcs == nullptr) libcs = dlvsym(RTLD_NEXT, "dlsym", kFirstVersionOfLibc);
  return reinterpret_cast<Dlsym>(libcs)(RTLD_NEXT, name);
}

void ResolveHostFunctions() {
  g_host.is_late = IsLoadedLate();
  if (!g_host.is_late) g_host.first_modules = ModulesBehindAgent();
  void* const search = g_host.is_late ? FindHost("dlsym") : NextDefinition("dlsym");
  g_host.dlsym = reinterpret_cast<void* (*)(void*, const char*)>(search);
  ResolveMalloc();
  ResolveNew(RTLD_NEXT);
  ResolveDelete(RTLD_NEXT);
  ResolveMmap();
  ResolveOthers();
  FindAllocator();
  g_host.operators_are_ours = OperatorsAreOurs();
  g_host.operators = FindOperatorSource();
  g_host.is_resolved.store(true, std::memory_order_release);
}

void UseHookedFunctions(const EntryHooks& hooks) {
  g_hooks = &hooks;
  ResolveMalloc();
  ResolveNew(RTLD_NEXT);
  ResolveDelete(RTLD_NEXT);
  g_host.allocator_is_foreign = true;
  g_host.is_hooked = true;
  g_host.allocator_begin = 0;
  g_host.allocator_end = 0;
  g_host.frees_any_kind = hooks.frees_any_kind != 0;
  if (FindHooked("_Znwm") != nullptr) g_host.operators = OperatorSource::kAllocator;
  g_hooks = nullptr;
}

bool IsNeverUnloaded(const void* address) {
  LoadedObject object;
  if (g_host.is_late || !FindObject(address, object)) return false;
  const link_map* map = FirstLinkMap();
  for (std::uint32_t place = 0; map != nullptr && place < g_host.first_modules.end; ++place) {
    if (map->l_ld == object.dynamic) return true;
    map = map->l_next;
  }
  return false;
}

void ResolveLateOperators() {
  for (const char* const runtime : {"libstdc++.so.6", "libc++.so.1"}) {
    void* const loaded = g_host.dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    ResolveNew(loaded);
    ResolveDelete(loaded);
    return;
  }
}

}  // namespace leakgate::agent
