// The host's functions: those that the agent's functions interpose and forward to.
//
// They are the next definitions after the agent's in the program's search order, so any allocator
// in a shared library keeps working. If the agent was loaded into a running process, they are the
// first definitions in the order, except for the agent's. They are resolved once, before anything
// is forwarded.
#pragma once

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "common/entry_hooks.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/linux/call_slots.h"

namespace leakgate::agent {

// Who provides operator new and delete.
enum class OperatorSource {
  kNone,       // there is no C++ runtime yet; one that is loaded later counts as kRuntime
  kRuntime,    // libstdc++ or libc++, whose operators only call malloc and free
  kAllocator,  // the library that provides malloc (tcmalloc, jemalloc, mimalloc)
  // The program, all or some of them: calls are forwarded, and the malloc that they call is
  // recorded.
  kProgram,
};

struct HostFunctions {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  // glibc's own functions, by the names that only glibc has. Used if the allocator is another one.
  void* (*libc_malloc)(std::size_t);
  void (*libc_free)(void*);
  void* (*libc_calloc)(std::size_t, std::size_t);
  void* (*libc_realloc)(void*, std::size_t);
  void* (*libc_memalign)(std::size_t, std::size_t);
  void* (*libc_valloc)(std::size_t);
  void* (*libc_pvalloc)(std::size_t);

  void* (*op_new)(std::size_t);
  void* (*op_new_array)(std::size_t);
  void* (*op_new_nothrow)(std::size_t, const std::nothrow_t&);
  void* (*op_new_array_nothrow)(std::size_t, const std::nothrow_t&);
  void* (*op_new_aligned)(std::size_t, std::align_val_t);
  void* (*op_new_array_aligned)(std::size_t, std::align_val_t);
  void* (*op_new_aligned_nothrow)(std::size_t, std::align_val_t, const std::nothrow_t&);
  void* (*op_new_array_aligned_nothrow)(std::size_t, std::align_val_t, const std::nothrow_t&);

  void (*op_delete)(void*);
  void (*op_delete_array)(void*);
  void (*op_delete_sized)(void*, std::size_t);
  void (*op_delete_array_sized)(void*, std::size_t);
  void (*op_delete_nothrow)(void*, const std::nothrow_t&);
  void (*op_delete_array_nothrow)(void*, const std::nothrow_t&);
  void (*op_delete_aligned)(void*, std::align_val_t);
  void (*op_delete_array_aligned)(void*, std::align_val_t);
  void (*op_delete_sized_aligned)(void*, std::size_t, std::align_val_t);
  void (*op_delete_array_sized_aligned)(void*, std::size_t, std::align_val_t);
  void (*op_delete_aligned_nothrow)(void*, std::align_val_t, const std::nothrow_t&);
  void (*op_delete_array_aligned_nothrow)(void*, std::align_val_t, const std::nothrow_t&);

  void* (*mmap)(void*, std::size_t, int, int, int, off_t);
  void* (*mmap64)(void*, std::size_t, int, int, int, off_t);
  int (*munmap)(void*, std::size_t);
  void* (*mremap)(void*, std::size_t, std::size_t, int, ...);
  int (*mprotect)(void*, std::size_t, int);
  int (*pkey_mprotect)(void*, std::size_t, int, int);
  void* (*shmat)(int, const void*, int);
  int (*shmdt)(const void*);
  void* (*sbrk)(std::intptr_t);
  int (*brk)(void*);
  long (*syscall)(long, ...);

  int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*dlclose)(void*);
  void* (*dlopen)(const char*, int);
  void* (*dlmopen)(long, const char*, int);
  void* (*dlsym)(void*, const char*);
  int (*libc_start_main)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(),
                         void (*)(), void*);
  void (*exit)(int);
  void (*exit_now)(int);    // _exit
  void (*exit_now_c)(int);  // _Exit
  void (*quick_exit)(int);
  int (*prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long);
  int (*sigaltstack)(const stack_t*, stack_t*);
  int (*execve)(const char*, char* const*, char* const*);
  int (*execvpe)(const char*, char* const*, char* const*);
  int (*fexecve)(int, char* const*, char* const*);
  int (*execveat)(int, const char*, char* const*, char* const*, int);
  int (*posix_spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                     const posix_spawnattr_t*, char* const*, char* const*);
  int (*posix_spawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, char* const*, char* const*);
  int (*mlockall)(int);
  char* (*getenv)(const char*);
  ssize_t (*write)(int, const void*, std::size_t);
  int (*close)(int);
  int (*socket)(int, int, int);
  int (*connect)(int, const sockaddr*, socklen_t);
  int (*getaddrinfo)(const char*, const char*, const addrinfo*, addrinfo**);
  void (*freeaddrinfo)(addrinfo*);

  std::atomic<bool> is_resolved{false};  // see AreHostsResolved
  bool is_late = false;                  // IsLoadedLate()
  ModuleRange first_modules;             // those after the agent, if it was loaded first
  bool allocator_is_foreign = false;     // malloc is not the C library's
  bool is_hooked = false;                // but in the program's executable (common/entry_hooks.h)
  std::uint64_t allocator_begin = 0;     // the module that has it
  std::uint64_t allocator_end = 0;
  OperatorSource operators = OperatorSource::kNone;
  bool operators_are_ours = false;  // the program itself replaces none of them
  bool frees_any_kind = false;      // one function frees what several kinds of functions allocate
};

extern LEAKGATE_INTERNAL HostFunctions g_host;

// Returns whether `pc` is in an allocator that maps memory for blocks that are counted themselves.
[[nodiscard]] inline bool IsForeignAllocators(std::uint64_t pc) {
  return g_host.allocator_is_foreign && pc >= g_host.allocator_begin && pc < g_host.allocator_end;
}

// Returns whether g_host is filled. Acquire pairs with the release in ResolveHostFunctions. Code
// that has found tracing on, or the agent started, need not ask.
[[nodiscard]] inline bool AreHostsResolved() {
  return g_host.is_resolved.load(std::memory_order_acquire);
}

// Returns whether the agent was loaded into a process that already ran, after everything that it
// interposes. Then no calls lead to it until slots are redirected (linux/call_slots.h).
[[nodiscard]] bool IsLoadedLate();

// Returns the modules in which call_slots.h searches for the host's functions, including modules
// that are loaded later, which RTLD_NEXT does not find. They can be iterated only once the process
// has begun.
[[nodiscard]] ModuleRange HostModules();

// Returns the definition of `name` after the agent's. REQUIRES: the agent was loaded first.
[[nodiscard]] void* NextDefinition(const char* name);

// Returns `function` of g_host, which `name` names, even before g_host is filled. Takes no lock
// except the dynamic linker's, and allocates nothing. A pointer that another thread fills in
// meanwhile is read as a whole, and leads to code that was there before: so no order is needed.
template <typename Function>
[[nodiscard]] Function* HostFunction(Function* const& function, const char* name) {
  if (__builtin_expect(function != nullptr, 1)) return function;
  return reinterpret_cast<Function*>(NextDefinition(name));
}

// Fills g_host. The dynamic linker may allocate meanwhile (bootstrap_heap.h).
void ResolveHostFunctions();

// Returns whether the module that has `address` was loaded with the program, and so is never
// unloaded. Returns false if that is not known, as in a process that was already running. REQUIRES:
// g_host is filled.
[[nodiscard]] bool IsNeverUnloaded(const void* address);

// From now on, calls of the executable's own allocator are forwarded to the functions as they were
// before their entries were hooked.
void UseHookedFunctions(const EntryHooks& hooks);

// Finds the operators of a program that loaded its C++ runtime only later, by dlopen. They are
// called only when memory is exhausted.
void ResolveLateOperators();

// Searches again for the provider of the operators, if there was none before: the runtime may have
// been loaded before tracing is enabled.
void FindOperators();

}  // namespace leakgate::agent
