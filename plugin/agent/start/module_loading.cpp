#include "plugin/agent/start/module_loading.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/find_object.h"
#include "plugin/agent/start/redirected_calls.h"

namespace leakgate::agent {
namespace {

// True if modules may have been loaded whose calls are not redirected yet. Once set, it stays,
// because the dynamic linker may still be loading. Both are relaxed: the linker's lock orders what
// is read of modules.
constinit std::atomic<bool> g_is_pending{false};

// CountOfLoads() when the modules were last redirected.
constinit std::atomic<std::uint64_t> g_redirected_loads{0};

// With a late agent, this is not called before the host is known.
bool IsLate() { return AreHostsResolved() && g_host.is_late; }

void RedirectLoaded() {
  if (g_host.is_late && !IsTracing()) return;
  const RedirectedSlots slots =
      g_host.is_late ? RedirectInterposed(Redirect::kToAgent) : RedirectDeeplyBound();
  if (!slots.skipped_modules) return;
  g_redirected_loads.store(0, std::memory_order_relaxed);
  g_is_pending.store(true, std::memory_order_relaxed);
}

bool HasEntry(const LoadedObject& module, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* entry = module.dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) return true;
  }
  return false;
}

// Returns whether the calling module may affect what is loaded, and from where. A RUNPATH applies
// to names without a folder; a RPATH also to what such a module needs itself.
bool DependsOnCaller(const char* file, void* caller) {
  LoadedObject module;
  if (file == nullptr || std::strchr(file, '$') != nullptr) return true;
  if (!FindObject(caller, module) || module.dynamic == nullptr) return true;
  if (HasEntry(module, DT_RPATH)) return true;
  return std::strchr(file, '/') == nullptr && HasEntry(module, DT_RUNPATH);
}

void* LoadAndRedirect(const char* file, int mode) {
  void* const module = g_host.dlopen(file, mode);
  if (module != nullptr) RedirectPending();
  return module;
}

bool IsLibcs(const void* function) {
  const auto address = reinterpret_cast<std::uint64_t>(function);
  return !g_host.allocator_is_foreign && address >= g_host.allocator_begin &&
         address < g_host.allocator_end;
}

// A caller that searches the C library's malloc gets the agent's, which forwards to it.
void* FindInModule(void* module, const char* name) {
  void* const found = g_host.dlsym(module, name);
  return IsLibcs(found) ? AgentsMalloc(name) : found;
}

// The other handles search in the order in which the caller finds its functions, and may be the
// agent's.
bool IsModule(void* module) { return module != RTLD_NEXT && module != RTLD_DEFAULT; }

}  // namespace

void RedirectPending() {
  if (!g_is_pending.load(std::memory_order_relaxed) || !AreHostsResolved()) return;
  const std::uint64_t loads = CountOfLoads();
  if (g_redirected_loads.exchange(loads, std::memory_order_relaxed) != loads) RedirectLoaded();
}

void* ChooseDlopen(const char* file, int mode, void* caller) {
  ForgetWhereNoObjectIs();
  RedirectPending();
  void* const host = reinterpret_cast<void*>(HostFunction(g_host.dlopen, "dlopen"));
  if (!IsLate() && (mode & RTLD_DEEPBIND) == 0) return host;
  g_is_pending.store(true, std::memory_order_relaxed);
  if (!AreHostsResolved() || DependsOnCaller(file, caller)) return host;
  return reinterpret_cast<void*>(&LoadAndRedirect);
}

// dlmopen mostly loads into a namespace of its own, with a C library of its own.
void* ChooseDlmopen(int mode) {
  ForgetWhereNoObjectIs();
  RedirectPending();
  if (IsLate() || (mode & RTLD_DEEPBIND) != 0) {
    g_is_pending.store(true, std::memory_order_relaxed);
  }
  return reinterpret_cast<void*>(HostFunction(g_host.dlmopen, "dlmopen"));
}

void* ChooseDlsym(void* module, const char* name) {
  RedirectPending();
  if (AreHostsResolved() && !g_host.is_late && IsModule(module) && AgentsMalloc(name) != nullptr) {
    return reinterpret_cast<void*>(&FindInModule);
  }
  return reinterpret_cast<void*>(HostFunction(g_host.dlsym, "dlsym"));
}

}  // namespace leakgate::agent
