#include "plugin/agent/start/redirected_calls.h"

#include <cstring>

#include "common/entry_hooks.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/host/host_functions.h"

// The interposed functions, by their names in the object file: their parameter and result types do
// not matter here. The linker binds them to this library's own (-Bsymbolic-functions).
#define LEAKGATE_OURS(symbol) extern "C" void Ours_##symbol() asm(#symbol);
#define LEAKGATE_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kAllocation},
#define LEAKGATE_OTHER_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kOther},

#define LEAKGATE_MALLOCS(apply)                                                      \
  LEAKGATE_MALLOC_NAMES(apply)                                                       \
  apply(__libc_malloc) apply(__libc_free) apply(__libc_calloc) apply(__libc_realloc) \
      apply(__libc_memalign) apply(__libc_valloc) apply(__libc_pvalloc)
#define LEAKGATE_OTHERS(apply)                                                                 \
  apply(pthread_create) apply(dlclose) apply(exit) apply(_exit) apply(_Exit) apply(quick_exit) \
      apply(execve) apply(execv) apply(execvp) apply(execvpe) apply(execl) apply(execlp)       \
          apply(execle) apply(fexecve) apply(execveat) apply(posix_spawn) apply(posix_spawnp)  \
              apply(mmap) apply(mmap64) apply(munmap) apply(mremap) apply(mprotect)            \
                  apply(pkey_mprotect) apply(shmat) apply(shmdt) apply(sbrk) apply(brk)        \
                      apply(syscall) apply(dlopen) apply(dlmopen) apply(dlsym)

LEAKGATE_MALLOCS(LEAKGATE_OURS)
LEAKGATE_OPERATOR_NAMES(LEAKGATE_OURS)
LEAKGATE_OTHERS(LEAKGATE_OURS)

namespace leakgate::agent {
namespace {

constexpr auto kAllocation = Redirection::Family::kAllocation;
constexpr auto kOther = Redirection::Family::kOther;

Redirection g_functions[] = {LEAKGATE_MALLOCS(LEAKGATE_ENTRY) LEAKGATE_OPERATOR_NAMES(
    LEAKGATE_ENTRY) LEAKGATE_OTHERS(LEAKGATE_OTHER_ENTRY)};

constexpr std::size_t kFunctions = sizeof(g_functions) / sizeof(g_functions[0]);
static_assert(kFunctions <= kMostRedirections);

constinit SpinLock g_lock;

bool IsOperator(const char* name) { return name[0] == '_' && name[1] == 'Z'; }

}  // namespace

// An operator of the program is left alone, since the malloc that it calls is recorded.
RedirectedSlots RedirectInterposed(Redirect to) {
  const SpinGuard guard(g_lock);
  FindOperators();
  FindHosts(g_functions);
  if (g_host.operators == OperatorSource::kProgram) {
    for (Redirection& function : g_functions) {
      if (IsOperator(function.name)) function.host = nullptr;
    }
  }
  return RedirectSlots(g_functions, to);
}

// Does not wait for the lock: another thread may hold the dynamic linker's lock, which is needed
// here, and call this function.
RedirectedSlots RedirectDeeplyBound() {
  if (!g_lock.TryLock()) return {.skipped_modules = true};
  Redirection functions[kFunctions];
  std::memcpy(functions, g_functions, sizeof(functions));
  FindHosts(functions, g_host.first_modules);
  const bool operators_are_runtimes =
      g_host.operators == OperatorSource::kRuntime && g_host.operators_are_ours;
  for (Redirection& function : functions) {
    if (IsOperator(function.name) && !operators_are_runtimes) function.host = nullptr;
  }
  ResolveOnlyWhereSure(functions);
  const RedirectedSlots slots =
      RedirectSlots(functions, Redirect::kToAgent, {.first = g_host.first_modules.end});
  g_lock.Unlock();
  return slots;
}

void* AgentsFunction(const char* name) {
  for (const Redirection& function : g_functions) {
    if (function.family == kAllocation && std::strcmp(function.name, name) == 0) {
      return function.ours;
    }
  }
  return nullptr;
}

void* AgentsMalloc(const char* name) { return IsOperator(name) ? nullptr : AgentsFunction(name); }

}  // namespace leakgate::agent
