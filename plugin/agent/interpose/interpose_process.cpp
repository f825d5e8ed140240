// The end of the process, the unloading of modules, and the creation of threads.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "plugin/agent/host/signal_stack.h"
#include "plugin/agent/interpose/allocator_calls.h"
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/interpose/leak_annotations.h"
#include "plugin/agent/linux/find_object.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/thread_start.h"
#include "plugin/agent/start/operator_probe.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/windows/windows.h"

using namespace leakgate::agent;

namespace {

// A vfork child shares the parent's memory, but its end is not the parent's.
void NoteImmediateEnd() {
  if (RouteOfOtherCall() != Route::kTrace) return;
  leakgate::RegionHeader& header = g_region.header();
  if (CurrentPid() != header.pid) return;
  AnnounceProcessEnd();
  SettleBeforeEnd();
  header.program_end.store(static_cast<std::uint32_t>(leakgate::ProgramEnd::kImmediate),
                           std::memory_order_release);
}

using Main = int (*)(int, char**, char**);

constinit Main g_main = nullptr;

// Calls main as a tail call, so that main takes this frame's place.
__attribute__((noinline)) int CallMain(int count, char** arguments, char** environment) {
  static constinit std::atomic<bool> has_been_called{false};
  const bool is_again = has_been_called.exchange(true, std::memory_order_relaxed);
  const CallerFrame caller = LEAKGATE_CALLER();
  // All frames outwards belong to the C library, and the one that calls this is entered once.
  NoteFirstFrame(is_again ? FirstFrame{}
                          : FirstFrame{caller.pc, caller.sp, leakgate::kMaxStackDepth});
  return g_main(count, arguments, environment);
}

// This is the last moment at which the program still holds what it holds: exit handlers come next.
// A fork child also returns from main, and may have no region in which to announce it.
int MainAndItsEnd(int count, char** arguments, char** environment) {
  TakeDefaultSuppressions();
  const int status = CallMain(count, arguments, environment);
  if (RouteOfOtherCall() == Route::kTrace) AnnounceProcessEnd();
  return status;
}

// Replaces main in a process that the runner has launched to probe its operators.
int ProbeAndEnd(int, char**, char**) {
  ProbeOperators();
  g_host.exit_now(0);
  __builtin_unreachable();
}

bool IsAsked(std::uint32_t question) {
  return RouteOfOtherCall() == Route::kTrace &&
         (g_region.header().asks.load(std::memory_order_relaxed) & question) != 0;
}

}  // namespace

// Called by the program's first instructions. Only if the runner wants to know when main returns, a
// frame of the agent's is put around it.
LEAKGATE_EXPORT int __libc_start_main(Main main, int count, char** arguments, void (*init)(),
                                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  if (RouteOfOtherCall() == Route::kTrace) RedirectAllocatorCalls();
  if (IsAsked(leakgate::kAskAtProcessEnd)) {
    g_main = main;
    main = MainAndItsEnd;
  }
  if (IsAsked(leakgate::kAskToProbe)) main = ProbeAndEnd;
  return g_host.libc_start_main(main, count, arguments, init, fini, loader_fini, stack_end);
}

LEAKGATE_EXPORT void exit(int status) noexcept {
  if (RouteOfOtherCall() == Route::kTrace) AnnounceProcessEnd();
  g_host.exit(status);
  __builtin_unreachable();
}

LEAKGATE_EXPORT void _exit(int status) {
  NoteImmediateEnd();
  g_host.exit_now(status);
  __builtin_unreachable();
}

LEAKGATE_EXPORT void _Exit(int status) noexcept {
  NoteImmediateEnd();
  g_host.exit_now_c(status);
  __builtin_unreachable();
}

// The process may be about to forbid itself system calls, under penalty of death: then the runner
// is not asked at its end, and the list of its mappings is not read any more. Filters need
// PR_SET_NO_NEW_PRIVS first, whichever call sets them.
LEAKGATE_EXPORT int prctl(int option, ...) noexcept {
  va_list rest;
  va_start(rest, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) {
    AskNothingAtProcessEnd();
    LearnObjectsForGood();
  }
  const auto [a, b, c, d] = arguments;
  if (g_host.prctl != nullptr) return g_host.prctl(option, a, b, c, d);
  return static_cast<int>(SystemCall(SYS_prctl, option, static_cast<long>(a), static_cast<long>(b),
                                     static_cast<long>(c), static_cast<long>(d)));
}

// From now on, perhaps only the kernel knows the address.
LEAKGATE_EXPORT int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  const int result = g_host.sigaltstack != nullptr
                         ? g_host.sigaltstack(stack, before)
                         : static_cast<int>(SystemCall(SYS_sigaltstack, Word(stack), Word(before)));
  if (result == 0 && stack != nullptr) {
    const bool is_disabled = (stack->ss_flags & SS_DISABLE) != 0;
    NoteSignalStack(is_disabled ? nullptr : stack->ss_sp, stack->ss_size);
  }
  return result;
}

LEAKGATE_EXPORT void quick_exit(int status) noexcept {
  NoteImmediateEnd();
  g_host.quick_exit(status);
  __builtin_unreachable();
}

// Before the call: what is unmapped next must not be read by a stale rule. After the call: what
// another thread looked up meanwhile is stale, too.
LEAKGATE_EXPORT int dlclose(void* module) noexcept {
  if (RouteOfOtherCall() == Route::kForward) return g_host.dlclose(module);
  g_modules.ModulesMayHaveGone();
  const int result = g_host.dlclose(module);
  g_modules.ModulesMayHaveGone();
  return result;
}

// std::thread goes through here. C11's thrd_create calls the C library's function internally, so
// its threads are known from their first allocation on.
LEAKGATE_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   ThreadFunction function, void* argument) noexcept {
  if (CurrentRoute() != Route::kTrace) {
    return g_host.pthread_create(thread, attributes, function, argument);
  }
  ThreadTicket* const ticket = TakeTicket(function, argument, attributes, LEAKGATE_CALLER());
  if (ticket == nullptr) return g_host.pthread_create(thread, attributes, function, argument);
  const int result = g_host.pthread_create(thread, attributes, RunTicket, ticket);
  if (result != 0) CancelTicket(ticket);
  return result;
}
