// The registers of one frame, as far as unwinding knows them, by their DWARF numbers.
//
// The processor's folder defines the numbers: kStackPointer, kFramePointer, kRegisterCount;
// kReturnAddress, whose rule in a frame's row leads to the return address; and kProgramCounter,
// where a RegisterFile has the frame's own pc (the same number if the processor has no register for
// return addresses).
#pragma once

#include <cstdint>
#include <optional>

#include "plugin/agent/arch/processor.h"

#include LEAKGATE_ARCH(register_numbers)

namespace leakgate::agent {

struct RegisterFile {
  std::uint64_t value[kRegisterCount] = {};
  std::uint64_t known = 0;  // bit n is set if value[n] is known
  static_assert(kRegisterCount <= 64);

  bool Knows(std::uint64_t number) const {
    return number < kRegisterCount && (known >> number & 1) != 0;
  }
  void Set(std::uint32_t number, std::uint64_t to) {
    value[number] = to;
    known |= std::uint64_t{1} << number;
  }
};

// Returns the value of a register that all frames have in common, such as the length of vectors,
// which may define the size of a frame. Returns nullopt if the register is none of these, or if
// this machine has none.
[[nodiscard]] std::optional<std::uint64_t> CommonRegister(std::uint64_t number);

// Returns the program counter, the stack pointer and the registers that calls preserve, as they are
// within this function, or in its caller just after the call: that frame is the first to be
// unwound.
[[nodiscard]] RegisterFile CaptureRegisters();

}  // namespace leakgate::agent
