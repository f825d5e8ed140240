// What happens as an exception leaves leakgate_call_named (arch/*/named_entry.h).
#pragma once

namespace leakgate::agent {

// Called then on the thread, if it is set before any such call. The code that is called so is no
// part of the core.
using LeaveNamedCall = void (*)();
extern __attribute__((visibility("hidden"))) LeaveNamedCall g_leave_named_call;

}  // namespace leakgate::agent
