// Reads machine code to find out how a function uses the result of a function that it calls. The
// code comes from a file, which is not trusted.
#pragma once

#include <cstdint>

#include "runner/arch/processor.h"

namespace leakgate {

// Returns whether the function that begins at `function` certainly does nothing with the pointer
// that the call which returns to `return_address` gives it, but return it: it may test it for null,
// and write to what it points to. Where anything is unknown, such as a call of another function,
// the answer is false. What happens where the pointer is null does not matter. `function` may be 0
// where that is not known: then no frame pointer is trusted. Pure.
[[nodiscard]] bool OnlyReturnsCallResult(std::uint64_t function, std::uint64_t return_address,
                                         const CodeReader& read);

}  // namespace leakgate
