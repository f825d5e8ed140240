// Evaluates the DWARF expressions that .eh_frame holds (DWARF 5, section 2.5):
// those of signal trampolines, PLT stubs, and functions that realign the stack.
#pragma once

#include <cstdint>
#include <optional>

#include "plugin/agent/arch/registers.h"
#include "plugin/agent/unwind/stack_memory.h"

namespace leakgate::agent {

struct Expression {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;
};

// Returns nullopt for an operation or a register that is not known, or memory that cannot be read.
// `initial` is pushed first where DWARF says so (the CFA).
[[nodiscard]] std::optional<std::uint64_t> Evaluate(const Expression& expression,
                                                    const RegisterFile& registers,
                                                    StackMemory& memory,
                                                    std::optional<std::uint64_t> initial = {});

}  // namespace leakgate::agent
