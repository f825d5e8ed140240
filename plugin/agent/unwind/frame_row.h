// How to get from a frame to its caller at one pc: the row of DWARF's call
// frame table (DWARF 5, section 6.4.1) that a frame description's instructions
// build up to that pc.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/registers.h"
#include "plugin/agent/unwind/expression.h"
#include "plugin/agent/unwind/frame_description.h"

namespace leakgate::agent {

// Where the caller's value of one register is.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kSame,          // unchanged
    kUndefined,     // gone
    kAtCfa,         // *(cfa + operand)
    kCfaPlus,       // cfa + operand
    kRegister,      // in register number `operand`
    kAtExpression,  // *(expression)
    kExpression,    // the expression's value
  };

  Kind kind = Kind::kSame;
  std::uint32_t expression_bytes = 0;
  std::int64_t operand = 0;  // an offset, a register's number, or an expression's address

  Expression expression() const {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(operand);
    return {begin, begin + expression_bytes};
  }
};
static_assert(sizeof(RegisterRule) == 16);  // rows live on the host's stack: keep them small

// The canonical frame address: the caller's stack pointer.
struct CfaRule {
  bool is_expression = false;
  std::uint64_t base_register = kStackPointer;
  std::int64_t offset = 0;
  Expression expression;
};

struct FrameRow {
  CfaRule cfa;
  RegisterRule registers[kRegisterCount];
};

// Returns false if an instruction is malformed or not known.
[[nodiscard]] bool BuildFrameRow(const FrameDescription& description, std::uint64_t pc,
                                 FrameRow& row);

}  // namespace leakgate::agent
