// void CallStepByStep(void (*function)(void*), void* argument)
//
// A program cannot have its own instructions trapped here. A timer sends SIGTRAP instead, while the
// function is called again and again: more than a thousand signals at whatever instruction. Each is
// asked for when the one before has been handled, or a slow machine would get no further.
#include <signal.h>
#include <time.h>

#include <atomic>

namespace {

std::atomic<int> g_left;
struct sigaction g_before;
timer_t g_timer;

void AskForOne() {
  const itimerspec soon{{0, 0}, {0, 5'000}};
  timer_settime(g_timer, 0, &soon, nullptr);
}

void Count(int signal, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else {
    g_before.sa_handler(signal);
  }
  if (g_left.fetch_sub(1, std::memory_order_relaxed) > 1) AskForOne();
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
  timer_create(CLOCK_MONOTONIC, &event, &g_timer);
  AskForOne();
  while (g_left.load(std::memory_order_relaxed) > 0) function(argument);
  timer_delete(g_timer);
  sigaction(SIGTRAP, &g_before, nullptr);
}
