// What `leakgate doctor` tries out on this machine.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/base/expected.h"

namespace leakgate {

// Tries to stop a process that is made for that, and to read what its threads hold, which is how
// lost memory is told from retained. It tells of the kernel, a container's filter
// and a debugger alike. The error says what to do.
// REQUIRES: this process has one thread.
[[nodiscard]] Expected<void> TryToStopProcess();

// The limit of this process's address space in bytes; none: there is no limit.
[[nodiscard]] std::optional<std::uint64_t> AddressSpaceLimit();

}  // namespace leakgate
