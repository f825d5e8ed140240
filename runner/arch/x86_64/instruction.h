// The lengths of machine instructions, and where in them displacements are: what moving code needs
// of them, and nothing else. By the opcode maps of Intel's and AMD's manuals, for 64-bit code.
// Pure.
//
// A library that disassembles would tell more, but each that was tried has megabytes of tables with
// relocations: the runner took twice as long to start (docs/architecture.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace leakgate {

enum class Branch : std::uint8_t {
  kNone,
  kJump,         // not conditional; it may be indirect
  kConditional,  // with a distance of 8 or 32 bits
  kLoop,         // loop, jrcxz: with 8 bits only
  kCall,
  kReturn,
};

struct Instruction {
  std::size_t bytes = 0;
  Branch branch = Branch::kNone;
  // If it is not 0, then the instruction reads memory at a distance of 32 bits from its own end,
  // which is at this offset in it.
  std::size_t distance_at = 0;
  // How far a direct branch leads from the instruction's end.
  std::optional<std::int32_t> branch_distance{};
  std::uint8_t condition = 0;        // the low four bits of a conditional jump's opcode
  bool is_padding = false;           // nop, int3
  bool has_short_addresses = false;  // 32 bits of them, by a prefix
};

// Returns the first instruction of `code`; nothing if it is none that is known, or is cut off.
[[nodiscard]] std::optional<Instruction> DecodeInstruction(std::span<const std::uint8_t> code);

}  // namespace leakgate
