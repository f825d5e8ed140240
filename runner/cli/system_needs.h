// What every command needs of the system, but for those that only print a text.
#pragma once

#include "runner/base/expected.h"

namespace leakgate {

// Returns an error that says what is missing: /proc, or the system call that ends processes,
// without which leakgate would wait for their ends for ever. Futexes are looked for before main
// already.
[[nodiscard]] Expected<void> RequireSystem();

}  // namespace leakgate
