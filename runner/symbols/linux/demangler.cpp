#include "runner/symbols/demangler.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>

// A function of the C++ library, which declares it in no header (LeakgateLibraries.cmake). It
// passes on the name piece by piece, and has no memory except on the stack, so it can be left at
// any moment. Returns 0 if the whole name was passed.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*use)(const char* text, std::size_t size,
                                                         void* attempt),
                                             void* attempt);

namespace leakgate {
namespace {

// The limit of processor time for one name. Usual names take some millionths of a second, and half
// a thousandth if their text is as long as it may be.
constexpr long kMostNs = 100'000'000;
// After so many slow names, they are considered an attack.
constexpr int kMostSlowNames = 20;
constexpr long kMostNsThen = 2'000'000;
// Shorter names cannot refer to themselves often enough to take long.
constexpr std::size_t kShortName = 64;

struct Attempt {
  sigjmp_buf end;
  volatile sig_atomic_t is_too_slow;
  std::size_t size;
  char text[kMostDemangledBytes];
};

// The attempt that the signal ends; null if there is none.
constinit thread_local std::atomic<Attempt*> t_timed{nullptr};

int SignalOfTimer() { return SIGRTMIN + 7; }

void OnTimeOver(int) {
  Attempt* const attempt = t_timed.load(std::memory_order_relaxed);
  if (attempt == nullptr) return;
  attempt->is_too_slow = 1;
  siglongjmp(attempt->end, 1);
}

// Sends the thread a signal after it has worked for some time. The signal is unblocked while this
// object lives.
class WorkTimer {
 public:
  WorkTimer(Attempt& attempt, long most_ns) {
    static const bool is_handled = HandleSignal();
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SignalOfTimer();
    event._sigev_un._tid = ::gettid();
    // The system call is made directly: in older C libraries, these functions are in another
    // library.
    has_timer_ =
        is_handled && ::syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    if (!has_timer_) return;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SignalOfTimer());
    ::pthread_sigmask(SIG_UNBLOCK, &signals, &before_);
    t_timed.store(&attempt, std::memory_order_relaxed);
    const itimerspec once{{0, 0}, {0, most_ns}};
    ::syscall(SYS_timer_settime, timer_, 0, &once, nullptr);
  }
  ~WorkTimer() {
    t_timed.store(nullptr, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!has_timer_) return;
    ::syscall(SYS_timer_delete, timer_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;

 private:
  static bool HandleSignal() {
    struct sigaction action {};
    action.sa_handler = OnTimeOver;
    action.sa_flags = SA_RESTART;
    return ::sigaction(SignalOfTimer(), &action, nullptr) == 0;
  }

  int timer_ = 0;  // the kernel's
  bool has_timer_ = false;
  sigset_t before_{};
};

void Append(const char* text, std::size_t size, void* to) {
  auto& attempt = *static_cast<Attempt*>(to);
  if (size > sizeof attempt.text - attempt.size) siglongjmp(attempt.end, 1);
  std::memcpy(attempt.text + attempt.size, text, size);
  attempt.size += size;
}

// Returns whether the whole name is in `attempt`. Holds nothing that would have to be destroyed,
// because a jump may leave the function.
bool Spell(const char* mangled, Attempt& attempt) {
  if (sigsetjmp(attempt.end, 0) != 0) return false;
  return __gcclibcxx_demangle_callback(mangled, Append, &attempt) == 0;
}

}  // namespace

std::optional<std::string> DemangledName(const std::string& mangled) {
  static std::atomic<int> slow_names{0};
  if (mangled.size() > kMostDemangledBytes) return std::nullopt;
  thread_local const auto kept = std::make_unique_for_overwrite<Attempt>();
  Attempt& attempt = *kept;
  attempt.is_too_slow = 0;
  attempt.size = 0;
  bool is_whole = false;
  if (mangled.size() <= kShortName) {
    is_whole = Spell(mangled.c_str(), attempt);
  } else {
    const bool are_many = slow_names.load(std::memory_order_relaxed) >= kMostSlowNames;
    const WorkTimer timer(attempt, are_many ? kMostNsThen : kMostNs);
    is_whole = Spell(mangled.c_str(), attempt);
    if (attempt.is_too_slow != 0) slow_names.fetch_add(1, std::memory_order_relaxed);
  }
  if (!is_whole) return std::nullopt;
  return std::string(attempt.text, attempt.size);
}

}  // namespace leakgate
