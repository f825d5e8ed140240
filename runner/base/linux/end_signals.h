// The signals that ask a process to end (base/signal_end.h).
#pragma once

#include <signal.h>

namespace leakgate {

[[nodiscard]] sigset_t EndSignals();

}  // namespace leakgate
