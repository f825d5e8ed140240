// The codes by which Microsoft's C runtime (UCRT) encodes pointers in modules' data, such as those
// to tables of functions for the program's end. Each module has a code of its own, by its "security
// cookie", which the module's load configuration names.
#pragma once

#include <span>
#include <vector>

#include "runner/reach/nt/process_memory.h"
#include "runner/reach/odd_words.h"

namespace leakgate {

// Returns none for modules without a load configuration. Each code is there once. The process is
// stopped.
[[nodiscard]] std::vector<PointerCode> CodesOf(std::span<const ImageModule> modules,
                                               const ProcessMemory& memory);

}  // namespace leakgate
