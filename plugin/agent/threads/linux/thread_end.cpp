// A thread-specific key, whose destructor is called at each thread's end.
#include "plugin/agent/threads/thread_end.h"

#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "plugin/agent/host/signal_stack.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/threads/thread_state.h"

namespace leakgate::agent {
namespace {

constinit bool g_has_key = false;
constinit int g_pid = 0;  // the process that is traced, not a fork child of it
pthread_key_t g_key;

// How often the thread's destructors have run.
thread_local constinit int t_destructor_rounds = 0;

#ifdef LEAKGATE_THREAD_SANITIZER
// For unit tests only: in the last round, the sanitizer itself releases the thread.
constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#else
constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif

// Other destructors may still allocate, so this waits for the last round. Not in a fork child,
// where threads that do not exist there may hold locks.
void OnThreadEnd(void* value) {
  if (CurrentPid() != g_pid) return;
  if (++t_destructor_rounds < kRounds) {
    pthread_setspecific(g_key, value);
    return;
  }
  EndSignalStack();
  EndThread();
}

}  // namespace

bool PrepareThreadEnds() {
  g_pid = CurrentPid();
  g_has_key = g_has_key || pthread_key_create(&g_key, OnThreadEnd) == 0;
  return g_has_key;
}

void AskForThreadEnd() { pthread_setspecific(g_key, &t_destructor_rounds); }

void ReadThreadName(char (&name)[16]) { RawSyscall(SYS_prctl, PR_GET_NAME, Word(name)); }

}  // namespace leakgate::agent
