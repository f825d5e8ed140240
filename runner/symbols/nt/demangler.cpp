#include "runner/symbols/demangler.h"

#include <windows.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

// A function of the C++ library, which declares it in no header (LeakgateLibraries.cmake). It
// passes on the name piece by piece, and has no memory except on the stack, so its thread can be
// ended at any moment. Returns 0 if the whole name was passed.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*use)(const char* text, std::size_t size,
                                                         void* attempt),
                                             void* attempt);

namespace leakgate {
namespace {

// The limit of time for one name. Usual names take some millionths of a second.
constexpr DWORD kMostMs = 200;
// After so many slow names, they are considered an attack.
constexpr int kMostSlowNames = 20;
constexpr DWORD kMostMsThen = 5;
// Shorter names cannot refer to themselves often enough to take long.
constexpr std::size_t kShortName = 64;

// A name that is being demangled. A thread that was ended leaves its attempt as it is.
struct Attempt {
  std::string mangled;
  std::size_t size = 0;
  bool has_room = true;
  bool is_name = false;
  char text[kMostDemangledBytes];
};

void Take(const char* text, std::size_t size, void* to) {
  Attempt& attempt = *static_cast<Attempt*>(to);
  attempt.has_room = attempt.has_room && size <= sizeof attempt.text - attempt.size;
  if (!attempt.has_room) return;
  std::memcpy(attempt.text + attempt.size, text, size);
  attempt.size += size;
}

void Demangle(Attempt& attempt) {
  attempt.is_name = __gcclibcxx_demangle_callback(attempt.mangled.c_str(), Take, &attempt) == 0;
}

// A thread that demangles one name after the other, and is ended if one takes too long.
class Worker {
 public:
  Worker()
      : asked_(::CreateEventW(nullptr, FALSE, FALSE, nullptr)),
        done_(::CreateEventW(nullptr, FALSE, FALSE, nullptr)),
        thread_(::CreateThread(nullptr, 0, Run, this, 0, nullptr)) {}
  ~Worker() {
    if (thread_ != nullptr) ::TerminateThread(thread_, 0);  // it waits, or is in the demangler
    if (thread_ != nullptr) ::WaitForSingleObject(thread_, INFINITE);
    for (const HANDLE handle : {asked_, done_, thread_}) {
      if (handle != nullptr) ::CloseHandle(handle);
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] bool Demangle(Attempt& attempt, DWORD most_ms) {
    if (thread_ == nullptr || asked_ == nullptr || done_ == nullptr) return false;
    attempt_.store(&attempt, std::memory_order_relaxed);  // the event orders it
    ::SetEvent(asked_);
    return ::WaitForSingleObject(done_, most_ms) == WAIT_OBJECT_0;
  }

 private:
  static DWORD WINAPI Run(void* self) {
    Worker& worker = *static_cast<Worker*>(self);
    while (::WaitForSingleObject(worker.asked_, INFINITE) == WAIT_OBJECT_0) {
      leakgate::Demangle(*worker.attempt_.load(std::memory_order_relaxed));
      ::SetEvent(worker.done_);
    }
    return 0;
  }

  HANDLE asked_;
  HANDLE done_;
  std::atomic<Attempt*> attempt_{nullptr};
  HANDLE thread_;
};

bool DemangleInTime(Attempt& attempt) {
  static std::mutex one_at_a_time;
  static std::unique_ptr<Worker> worker;
  static int slow_names = 0;
  const std::scoped_lock lock(one_at_a_time);
  if (worker == nullptr) worker = std::make_unique<Worker>();
  if (worker->Demangle(attempt, slow_names < kMostSlowNames ? kMostMs : kMostMsThen)) return true;
  worker = nullptr;
  ++slow_names;
  return false;
}

}  // namespace

std::optional<std::string> DemangledName(const std::string& mangled) {
  if (mangled.size() > kMostDemangledBytes) return std::nullopt;
  const auto attempt = std::make_unique<Attempt>();
  attempt->mangled = mangled;
  if (mangled.size() <= kShortName) {
    Demangle(*attempt);
  } else if (!DemangleInTime(*attempt)) {
    return std::nullopt;
  }
  if (!attempt->is_name || !attempt->has_room) return std::nullopt;
  return std::string(attempt->text, attempt->size);
}

}  // namespace leakgate
