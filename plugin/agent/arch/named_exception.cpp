#include "plugin/agent/arch/named_exception.h"

#include <cstdint>

namespace leakgate::agent {

constinit LeaveNamedCall g_leave_named_call = nullptr;

}  // namespace leakgate::agent

// The personality of leakgate_call_named: the unwinder calls it. The parameters are those of
// _Unwind_Personality_Fn in the Itanium C++ ABI.
extern "C" __attribute__((visibility("hidden"))) int leakgate_leave_named(int, int actions,
                                                                          std::uint64_t, void*,
                                                                          void*) {
  constexpr int kCleanupPhase = 2;
  constexpr int kContinueUnwind = 8;
  if ((actions & kCleanupPhase) != 0 && leakgate::agent::g_leave_named_call != nullptr) {
    leakgate::agent::g_leave_named_call();
  }
  return kContinueUnwind;
}
