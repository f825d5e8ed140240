// Decodes the instructions that both readers of machine code (processor.cpp, return_value.cpp)
// need.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "runner/arch/processor.h"

namespace leakgate {

inline constexpr std::uint64_t kInstructionBytes = 4;
inline constexpr unsigned kZeroRegister = 31;  // in some instructions the stack pointer

constexpr unsigned Field(std::uint32_t instruction, unsigned at, unsigned bits) {
  return (instruction >> at) & ((1U << bits) - 1);
}

constexpr std::int64_t SignedField(std::uint32_t instruction, unsigned at, unsigned bits) {
  return static_cast<std::int64_t>(std::uint64_t{Field(instruction, at, bits)} << (64 - bits)) >>
         (64 - bits);
}

constexpr bool IsSystemCall(std::uint32_t instruction) {  // svc
  return (instruction & 0xFFE0'001F) == 0xD400'0001;
}

// Returns whether it is a hint without effect for a reader: nop, bti, and the signing and checking
// of x30.
constexpr bool IsHarmlessHint(std::uint32_t instruction) {
  if ((instruction & 0xFFFF'F01F) != 0xD503'201F) return false;
  const unsigned hint = Field(instruction, 5, 7);
  constexpr unsigned kPaciaz = 24;
  constexpr unsigned kAutibsp = 31;
  constexpr unsigned kBti = 32;
  constexpr unsigned kBtiJumpOrCall = 38;
  return hint == 0 || (hint >= kPaciaz && hint <= kAutibsp) ||
         (hint >= kBti && hint <= kBtiJumpOrCall);
}

// Decodes adrp, whose register is the field at 0. Returns the page that it computes.
constexpr std::optional<std::uint64_t> PageOf(std::uint32_t instruction, std::uint64_t address) {
  constexpr std::uint64_t kPageMask = 4095;  // of the instruction, not of the kernel
  if ((instruction & 0x9F00'0000) != 0x9000'0000) return std::nullopt;
  const std::int64_t pages =
      SignedField(instruction, 5, 19) * 4 + static_cast<std::int64_t>(Field(instruction, 29, 2));
  return (address & ~kPageMask) + static_cast<std::uint64_t>(pages * 4096);
}

// Decodes ldr of 64 bits with an unsigned offset, or add of a constant: register at 0, base at 5.
constexpr std::optional<std::uint64_t> LoadOffset(std::uint32_t instruction) {
  if ((instruction & 0xFFC0'0000) != 0xF940'0000) return std::nullopt;
  return std::uint64_t{Field(instruction, 10, 12)} * 8;
}
constexpr std::optional<std::uint64_t> AddedConstant(std::uint32_t instruction) {
  if ((instruction & 0xFFC0'0000) != 0x9100'0000) return std::nullopt;
  return std::uint64_t{Field(instruction, 10, 12)};
}

// Decodes b and bl. Returns where the jump leads.
constexpr std::optional<std::uint64_t> JumpTarget(std::uint32_t instruction,
                                                  std::uint64_t address) {
  if ((instruction & 0xFC00'0000) != 0x1400'0000) return std::nullopt;
  return address + static_cast<std::uint64_t>(SignedField(instruction, 0, 26) * 4);
}
constexpr std::optional<std::uint64_t> CallTarget(std::uint32_t instruction,
                                                  std::uint64_t address) {
  constexpr std::uint32_t kLinks = 1U << 31;
  return (instruction & kLinks) == 0 ? std::nullopt : JumpTarget(instruction & ~kLinks, address);
}

inline std::optional<std::uint32_t> ReadInstruction(std::uint64_t address, const CodeReader& read) {
  std::uint32_t instruction = 0;
  const auto bytes = read(address, sizeof(instruction));
  if (bytes.size() < sizeof(instruction)) return std::nullopt;
  std::memcpy(&instruction, bytes.data(), sizeof(instruction));
  return instruction;
}

}  // namespace leakgate
