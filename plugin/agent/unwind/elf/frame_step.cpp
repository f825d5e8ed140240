#include "plugin/agent/unwind/elf/frame_step.h"

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/unwind/elf/frame_row.h"
#include "plugin/agent/unwind/elf/reduce.h"

#include LEAKGATE_ARCH(return_address)
#include LEAKGATE_ARCH(signal_return)

namespace leakgate::agent {
namespace {

StepResult Ended(UnwindEnd end) { return {StepResult::Kind::kEnded, end, false}; }

std::optional<std::uint64_t> FindCfa(const CfaRule& rule, const RegisterFile& registers,
                                     StackMemory& memory) {
  if (rule.is_expression) return Evaluate(rule.expression, registers, memory);
  if (!registers.Knows(rule.base_register)) return std::nullopt;
  return registers.value[rule.base_register] + static_cast<std::uint64_t>(rule.offset);
}

std::optional<std::uint64_t> Load(std::optional<std::uint64_t> address, StackMemory& memory) {
  std::uint64_t word = 0;
  if (!address || !memory.Read(*address, word)) return std::nullopt;
  return word;
}

std::optional<std::uint64_t> CallersValue(const RegisterRule& rule, std::uint32_t number,
                                          std::uint64_t cfa, const RegisterFile& registers,
                                          StackMemory& memory) {
  using Kind = RegisterRule::Kind;
  const std::uint64_t operand = static_cast<std::uint64_t>(rule.operand);
  switch (rule.kind) {
    case Kind::kSame:
      if (registers.Knows(number)) return registers.value[number];
      return std::nullopt;
    case Kind::kAtCfa:
      return Load(cfa + operand, memory);
    case Kind::kCfaPlus:
      return cfa + operand;
    case Kind::kRegister:
      if (registers.Knows(operand)) return registers.value[operand];
      return std::nullopt;
    case Kind::kAtExpression:
      return Load(Evaluate(rule.expression(), registers, memory, cfa), memory);
    case Kind::kExpression:
      return Evaluate(rule.expression(), registers, memory, cfa);
    case Kind::kUndefined:
      return std::nullopt;
  }
  return std::nullopt;
}

// Registers that a callee need not preserve no longer have the caller's values, unless the frame is
// a signal's, whose row says where each was saved.
RegisterFile CallersRegisters(const FrameRow& row, std::uint64_t cfa, const RegisterFile& registers,
                              StackMemory& memory) {
  RegisterFile caller;
  for (std::uint32_t number = 0; number < kRegisterCount; ++number) {
    const RegisterRule& rule = row.registers[number];
    if (rule.kind == RegisterRule::Kind::kSame && !IsPreservedByCalls(number)) continue;
    const auto value = CallersValue(rule, number, cfa, registers, memory);
    if (value) caller.Set(number, *value);
  }
  if (!caller.Knows(kStackPointer)) caller.Set(kStackPointer, cfa);
  return caller;
}

// If calls leave the return address in a register, a function that makes no calls still has it
// there. If they do not, this number belongs to no register, and stands for the frame's own pc.
std::optional<std::uint64_t> ReturnAddressOf(const FrameRow& row, std::uint64_t cfa,
                                             const RegisterFile& registers, StackMemory& memory) {
  const RegisterRule& rule = row.registers[kReturnAddress];
  if (rule.kind == RegisterRule::Kind::kSame && kReturnAddress == kProgramCounter) {
    return std::nullopt;
  }
  return CallersValue(rule, kReturnAddress, cfa, registers, memory);
}

// The kernel has saved all registers of the interrupted code, in the order of their numbers.
StepResult StepSignalFrame(RegisterFile& registers, StackMemory& memory) {
  RegisterFile interrupted;
  std::uint64_t at = registers.value[kStackPointer] + kInterruptedRegistersAt;
  for (std::uint32_t number = 0; number < kRegisterCount; ++number, at += sizeof(at)) {
    std::uint64_t word = 0;
    if (!memory.Read(at, word)) return Ended(UnwindEnd::kUnreadableStack);
    interrupted.Set(number, word);
  }
  registers = interrupted;
  return {StepResult::Kind::kStepped, UnwindEnd::kOutermost, true};
}

}  // namespace

StepResult StepFrame(const FrameSection& section, std::uint64_t lookup_pc, RegisterFile& registers,
                     StackMemory& memory) {
  FrameRowReader reader;
  const DescriptionStatus status = reader.Describe(section, lookup_pc);
  if (status == DescriptionStatus::kNone) {
    return IsSignalReturn(lookup_pc) ? StepSignalFrame(registers, memory)
                                     : Ended(UnwindEnd::kNoUnwindInfo);
  }

  const FrameRow* const found =
      status == DescriptionStatus::kMalformed ? nullptr : reader.Read(lookup_pc);
  if (found == nullptr) return Ended(UnwindEnd::kBadUnwindInfo);
  const FrameRow& row = *found;
  if (row.registers[kReturnAddress].kind == RegisterRule::Kind::kUndefined) {
    return Ended(UnwindEnd::kOutermost);
  }
  const std::optional<std::uint64_t> cfa = FindCfa(row.cfa, registers, memory);
  if (!cfa) return Ended(UnwindEnd::kBadUnwindInfo);

  const auto return_address = ReturnAddressOf(row, *cfa, registers, memory);
  if (!return_address) return Ended(UnwindEnd::kUnreadableStack);
  registers = CallersRegisters(row, *cfa, registers, memory);
  registers.Set(kProgramCounter, WithoutSignature(*return_address));
  return {StepResult::Kind::kStepped, UnwindEnd::kOutermost, reader.description().is_signal_frame};
}

}  // namespace leakgate::agent
