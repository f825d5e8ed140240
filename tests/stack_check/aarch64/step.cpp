// void CallStepByStep(void (*function)(void*), void* argument)
//
// A program cannot have its own instructions trapped here. A timer sends SIGTRAP instead, as often
// as it can, while the function is called again and again: more than a thousand signals at whatever
// instruction.
#include <signal.h>
#include <time.h>

#include <atomic>

namespace {

std::atomic<int> g_left;
struct sigaction g_before;

void Count(int signal, siginfo_t* info, void* context) {
  g_left.fetch_sub(1, std::memory_order_relaxed);
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(signal, info, context);
  g_before.sa_handler(signal);
}

}  // namespace

extern "C" void CallStepByStep(void (*function)(void*), void* argument) {
  g_left = 1500;
  sigaction(SIGTRAP, nullptr, &g_before);
  struct sigaction counting = g_before;
  counting.sa_sigaction = Count;
  counting.sa_flags |= SA_SIGINFO;
  sigaction(SIGTRAP, &counting, nullptr);

  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTRAP;
  timer_t timer{};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec often{{0, 20'000}, {0, 20'000}};
  timer_settime(timer, 0, &often, nullptr);
  while (g_left.load(std::memory_order_relaxed) > 0) function(argument);
  timer_delete(timer);
  sigaction(SIGTRAP, &g_before, nullptr);
}
