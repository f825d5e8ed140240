// What code calls that is annotated for LeakSanitizer (sanitizer/lsan_interface.h) or gperftools'
// heap checker, if it declares these functions weak. Each does what it means there: an ignored
// block, what is allocated while a thread has leak checks disabled, and what these alone lead to,
// is no leak.
//
// __lsan_do_leak_check and __lsan_do_recoverable_leak_check are not answered: they end the process,
// or tell the program how the check went, and here the verdict is not the program's.
//
// Of what the program defines, __lsan_default_suppressions is asked. __lsan_is_turned_off is not: a
// gate that code turns off would be green without a check.
//
// These never start the agent, and never change the program: where nothing is recorded, they do
// nothing. A program may have gperftools' own functions: these are called, too.
#include "plugin/agent/interpose/leak_annotations.h"

#include <atomic>
#include <cstring>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/call_slots.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/windows.h"

using namespace leakgate::agent;

namespace {

template <typename Do>
void Annotate(const Do& act) {
  if (!IsTracing() || !CanRecord()) return;
  {
    const RecordingGuard guard;
    act(Recording(guard));
  }
  NoteUnsettled();
}

RootRegion RegionOf(const void* begin, std::size_t size_bytes) {
  return {reinterpret_cast<std::uint64_t>(begin), size_bytes};
}

// A function of gperftools', as the next library has it. It is sought once: the library is linked,
// or is not there.
class Checkers {
 public:
  explicit constexpr Checkers(const char* name) : name_(name) {}

  // Relaxed: all threads find the same code.
  void Call(const void* argument) {
    Function* host = host_.load(std::memory_order_relaxed);
    if (host == nullptr) {
      host = reinterpret_cast<Function*>(FindHost(name_, HostModules()));
      if (host == nullptr) host = [](const void*) {};
      host_.store(host, std::memory_order_relaxed);
    }
    host(argument);
  }

 private:
  using Function = void(const void*);

  const char* const name_;
  std::atomic<Function*> host_{nullptr};
};

constinit Checkers g_ignore{"_ZN15HeapLeakChecker14DoIgnoreObjectEPKv"};
constinit Checkers g_do_not_ignore{"_ZN15HeapLeakChecker14UnIgnoreObjectEPKv"};
constinit Checkers g_begin_disabler{"_ZN15HeapLeakChecker8DisablerC1Ev"};
constinit Checkers g_end_disabler{"_ZN15HeapLeakChecker8DisablerD1Ev"};

void BeginDisabler(const void* disabler) {
  Annotate(BeginIgnoring);
  g_begin_disabler.Call(disabler);
}
void EndDisabler(const void* disabler) {
  g_end_disabler.Call(disabler);
  Annotate(EndIgnoring);
}

}  // namespace

namespace leakgate::agent {

void TakeDefaultSuppressions() {
  constexpr std::size_t kMostBytes = 1UL << 16;  // as text of the region
  if (!IsTracing()) return;
  const auto suppressions =
      reinterpret_cast<const char* (*)()>(FindHost("__lsan_default_suppressions"));
  const char* const text = suppressions == nullptr ? nullptr : suppressions();
  if (text == nullptr) return;
  Annotate([&](Recording recording) {
    NoteSuppressions(recording, {text, strnlen(text, kMostBytes)});
  });
}

}  // namespace leakgate::agent

LEAKGATE_EXPORT void __lsan_disable() { Annotate(BeginIgnoring); }
LEAKGATE_EXPORT void __lsan_enable() { Annotate(EndIgnoring); }

LEAKGATE_EXPORT void __lsan_ignore_object(const void* object) {
  Annotate([&](Recording recording) {
    SetAllowanceOf(recording, object, IgnoredBy("__lsan_ignore_object"));
  });
}

LEAKGATE_EXPORT void __lsan_register_root_region(const void* begin, std::size_t size_bytes) {
  Annotate(
      [&](Recording recording) { CountRootRegion(recording, RegionOf(begin, size_bytes), 1); });
}
LEAKGATE_EXPORT void __lsan_unregister_root_region(const void* begin, std::size_t size_bytes) {
  Annotate(
      [&](Recording recording) { CountRootRegion(recording, RegionOf(begin, size_bytes), -1); });
}

// HeapLeakChecker::IgnoreObject calls the first of these.
LEAKGATE_EXPORT void _ZN15HeapLeakChecker14DoIgnoreObjectEPKv(const void* object) {
  Annotate([&](Recording recording) {
    SetAllowanceOf(recording, object, IgnoredBy("HeapLeakChecker::IgnoreObject"));
  });
  g_ignore.Call(object);
}
LEAKGATE_EXPORT void _ZN15HeapLeakChecker14UnIgnoreObjectEPKv(const void* object) {
  Annotate([&](Recording recording) { SetAllowanceOf(recording, object, 0); });
  g_do_not_ignore.Call(object);
}

// The constructors and destructors of HeapLeakChecker::Disabler.
LEAKGATE_EXPORT void _ZN15HeapLeakChecker8DisablerC1Ev(void* self) { BeginDisabler(self); }
LEAKGATE_EXPORT void _ZN15HeapLeakChecker8DisablerC2Ev(void* self) { BeginDisabler(self); }
LEAKGATE_EXPORT void _ZN15HeapLeakChecker8DisablerD1Ev(void* self) { EndDisabler(self); }
LEAKGATE_EXPORT void _ZN15HeapLeakChecker8DisablerD2Ev(void* self) { EndDisabler(self); }
