#include "plugin/agent/interpose_table.h"

#include "plugin/agent/host_functions.h"
#include "plugin/agent/interpose_loading.h"
#include "plugin/agent/spin_lock.h"

// By their names in the object file: what they take and return is of no matter here, and
// the linker binds them to this library's own (-Bsymbolic-functions).
#define LEAKGATE_OURS(symbol) extern "C" void Ours_##symbol() asm(#symbol);
#define LEAKGATE_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kAllocation},
#define LEAKGATE_OTHER_ENTRY(symbol) \
  {.name = #symbol, .ours = reinterpret_cast<void*>(&Ours_##symbol), .family = kOther},

#define LEAKGATE_MALLOCS(apply)                                                              \
  apply(malloc) apply(free) apply(calloc) apply(realloc) apply(reallocarray) apply(memalign) \
      apply(aligned_alloc) apply(posix_memalign) apply(valloc) apply(pvalloc)
#define LEAKGATE_OPERATORS(apply)                                                             \
  apply(_Znwm) apply(_Znam) apply(_ZnwmRKSt9nothrow_t) apply(_ZnamRKSt9nothrow_t)             \
      apply(_ZnwmSt11align_val_t) apply(_ZnamSt11align_val_t)                                 \
          apply(_ZnwmSt11align_val_tRKSt9nothrow_t) apply(_ZnamSt11align_val_tRKSt9nothrow_t) \
              apply(_ZdlPv) apply(_ZdaPv) apply(_ZdlPvm) apply(_ZdaPvm)                       \
                  apply(_ZdlPvRKSt9nothrow_t) apply(_ZdaPvRKSt9nothrow_t)                     \
                      apply(_ZdlPvSt11align_val_t) apply(_ZdaPvSt11align_val_t)               \
                          apply(_ZdlPvmSt11align_val_t) apply(_ZdaPvmSt11align_val_t)         \
                              apply(_ZdlPvSt11align_val_tRKSt9nothrow_t)                      \
                                  apply(_ZdaPvSt11align_val_tRKSt9nothrow_t)
#define LEAKGATE_OTHERS(apply)                                                                 \
  apply(pthread_create) apply(dlclose) apply(exit) apply(_exit) apply(_Exit) apply(quick_exit) \
      apply(execve) apply(execv) apply(execvp) apply(execvpe) apply(execl) apply(execlp)       \
          apply(execle) apply(fexecve) apply(execveat) apply(posix_spawn) apply(posix_spawnp)  \
              apply(mmap) apply(mmap64) apply(munmap) apply(mremap) apply(mprotect)            \
                  apply(pkey_mprotect) apply(shmat) apply(shmdt)

LEAKGATE_MALLOCS(LEAKGATE_OURS)
LEAKGATE_OPERATORS(LEAKGATE_OURS)
LEAKGATE_OTHERS(LEAKGATE_OURS)

namespace leakgate::agent {
namespace {

constexpr auto kAllocation = Redirection::Family::kAllocation;
constexpr auto kOther = Redirection::Family::kOther;

Redirection g_functions[] = {
    LEAKGATE_MALLOCS(LEAKGATE_ENTRY) LEAKGATE_OPERATORS(LEAKGATE_ENTRY)
        LEAKGATE_OTHERS(LEAKGATE_OTHER_ENTRY){
            .name = "dlopen", .ours = reinterpret_cast<void*>(&LateDlopen), .family = kOther},
    {.name = "dlmopen", .ours = reinterpret_cast<void*>(&LateDlmopen), .family = kOther},
    {.name = "dlsym", .ours = reinterpret_cast<void*>(&LateDlsym), .family = kOther},
};

static_assert(sizeof(g_functions) / sizeof(g_functions[0]) <= kMostRedirections);

constinit SpinLock g_lock;

}  // namespace

// An operator of the program's own is left alone: the malloc behind it is recorded.
RedirectedSlots RedirectInterposed(Redirect to) {
  const SpinGuard guard(g_lock);
  FindOperators();
  FindHosts(g_functions);
  if (g_host.operators == OperatorSource::kProgram) {
    for (Redirection& function : g_functions) {
      if (function.name[0] == '_' && function.name[1] == 'Z') function.host = nullptr;
    }
  }
  return RedirectSlots(g_functions, to);
}

}  // namespace leakgate::agent
