// How to get from a frame to its caller at one pc: the row of DWARF's call
// frame table (DWARF 5, section 6.4.1) that a frame description's instructions
// build up to that pc.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/registers.h"
#include "plugin/agent/unwind/elf/expression.h"
#include "plugin/agent/unwind/elf/frame_description.h"

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

// Builds rows. It keeps its position in a function's instructions, and continues from there when a
// later pc of the same function is asked for: a compiler may make one function of all initialisers
// of a file, with thousands of calls and instructions, and a program asks for one call after the
// other.
//
// Used by one thread at a time. Memory of zeros is an object that has read nothing.
class FrameRowReader {
 public:
  // Finds the description that covers `pc`. Mostly the next pc is in the same function as the last,
  // whose description is kept.
  [[nodiscard]] DescriptionStatus Describe(const FrameSection& section, std::uint64_t pc);
  // The description that was found last.
  const FrameDescription& description() const { return description_; }

  // Returns the row, which is valid until the next call; nullptr if an instruction is malformed or
  // not known. REQUIRES: Describe has found a description for `pc`.
  [[nodiscard]] const FrameRow* Read(std::uint64_t pc);

  // Must be called when the mapped code may be gone: other code may be at the same place.
  void Forget() {
    at_ = nullptr;
    description_ = {};
  }

 private:
  friend class RowBuilder;
  static constexpr int kMaxRemembered = 4;

  FrameDescription description_;      // covers nothing if none was found
  const std::uint8_t* at_ = nullptr;  // the next instruction; nullptr: nothing has been read
  const std::uint8_t* program_begin_ = nullptr;
  std::uint64_t pc_begin_ = 0;
  std::uint64_t pc_ = 0;        // the last that was asked for
  std::uint64_t location_ = 0;  // the location from which the next instruction applies
  FrameRow row_;
  FrameRow initial_;
  FrameRow remembered_[kMaxRemembered];
  int remembered_count_ = 0;
};

}  // namespace leakgate::agent
