#include "plugin/agent/interpose_loading.h"

#include <link.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/host_functions.h"
#include "plugin/agent/interpose_table.h"
#include "plugin/agent/on_switch.h"

namespace leakgate::agent {
namespace {

// Modules may have been loaded whose calls are not redirected yet.
constinit std::atomic<bool> g_is_pending{false};

void RedirectLoaded() {
  if (!IsTracing()) return;
  const RedirectedSlots slots = RedirectInterposed(Redirect::kToAgent);
  if (slots.skipped_modules) g_is_pending.store(true, std::memory_order_relaxed);
}

void RedirectPending() {
  if (!g_is_pending.load(std::memory_order_relaxed)) return;
  if (g_is_pending.exchange(false, std::memory_order_relaxed)) RedirectLoaded();
}

bool HasSearchPath(const link_map* module) {
  for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) return true;
  }
  return false;
}

// What is loaded, and from where, may depend on the module that calls.
bool DependsOnCaller(const char* file, void* caller) {
  dl_find_object object;
  if (file == nullptr || std::strchr(file, '$') != nullptr) return true;
  if (_dl_find_object(caller, &object) != 0) return true;
  return HasSearchPath(object.dlfo_link_map);
}

__attribute__((noinline)) void* LoadAndRedirect(const char* file, int mode) {
  void* const module = g_host.dlopen(file, mode);
  if (module != nullptr) RedirectLoaded();
  return module;
}

}  // namespace

void* LateDlopen(const char* file, int mode) {
  RedirectPending();
  if (!DependsOnCaller(file, __builtin_return_address(0))) return LoadAndRedirect(file, mode);
  g_is_pending.store(true, std::memory_order_relaxed);
  return g_host.dlopen(file, mode);
}

// Mostly into a name space of its own, with a C library of its own.
void* LateDlmopen(Lmid_t space, const char* file, int mode) {
  g_is_pending.store(true, std::memory_order_relaxed);
  return g_host.dlmopen(space, file, mode);
}

void* LateDlsym(void* module, const char* name) {
  RedirectPending();
  return g_host.dlsym(module, name);
}

}  // namespace leakgate::agent
