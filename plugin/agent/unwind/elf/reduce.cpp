#include "plugin/agent/unwind/elf/reduce.h"

#include <cstring>
#include <limits>
#include <optional>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/unwind/elf/byte_cursor.h"

#include LEAKGATE_ARCH(signal_return)

namespace leakgate::agent {
namespace {

// An expression of the form `register + offset`, possibly followed by a load.
struct SimpleExpression {
  std::uint32_t base_register;
  std::int64_t offset;
  bool loads;
};

std::optional<SimpleExpression> Simplify(const Expression& expression) {
  constexpr std::uint8_t kBreg0 = 0x70;
  constexpr std::uint8_t kDeref = 0x06;
  ByteCursor cursor(expression.begin, expression.end);
  const auto operation = cursor.Read<std::uint8_t>();
  if (operation < kBreg0 || operation >= kBreg0 + kRegisterCount) return std::nullopt;

  SimpleExpression simple{static_cast<std::uint32_t>(operation - kBreg0), cursor.ReadSleb(), false};
  if (!cursor.at_end()) simple.loads = cursor.Read<std::uint8_t>() == kDeref;
  if (cursor.failed() || !cursor.at_end()) return std::nullopt;
  return simple;
}

bool Fits(std::int64_t offset) {
  return offset >= std::numeric_limits<std::int32_t>::min() &&
         offset <= std::numeric_limits<std::int32_t>::max();
}

bool ReduceCfa(const CfaRule& cfa, UnwindRule& rule) {
  SimpleExpression simple{static_cast<std::uint32_t>(cfa.base_register), cfa.offset, false};
  if (cfa.is_expression) {
    const std::optional<SimpleExpression> found = Simplify(cfa.expression);
    if (!found) return false;
    simple = *found;
  }
  if (!Fits(simple.offset)) return false;
  if (simple.base_register != kStackPointer && simple.base_register != kFramePointer) return false;

  const bool from_sp = simple.base_register == kStackPointer;
  rule.cfa_offset = static_cast<std::int32_t>(simple.offset);
  if (simple.loads) {
    rule.cfa = from_sp ? UnwindRule::Cfa::kAtSp : UnwindRule::Cfa::kAtFp;
  } else {
    rule.cfa = from_sp ? UnwindRule::Cfa::kSpPlus : UnwindRule::Cfa::kFpPlus;
  }
  return true;
}

bool IsPlain(const UnwindRule& rule) {
  using Cfa = UnwindRule::Cfa;
  using Slot = UnwindRule::Slot;
  return rule.kind == UnwindRule::Kind::kCompact && !rule.is_signal_frame &&
         (rule.cfa == Cfa::kSpPlus || rule.cfa == Cfa::kFpPlus) &&
         (rule.fp == Slot::kSame || rule.fp == Slot::kAtCfa) && rule.return_address == Slot::kAtCfa;
}

bool ReduceSlot(const RegisterRule& from, UnwindRule::Slot& slot, std::int32_t& offset) {
  using Kind = RegisterRule::Kind;
  if (from.kind == Kind::kAtCfa && Fits(from.operand)) {
    slot = UnwindRule::Slot::kAtCfa;
    offset = static_cast<std::int32_t>(from.operand);
    return true;
  }
  if (from.kind != Kind::kAtExpression) return false;

  const std::optional<SimpleExpression> simple = Simplify(from.expression());
  if (!simple || simple->loads || !Fits(simple->offset)) return false;
  if (simple->base_register != kStackPointer && simple->base_register != kFramePointer)
    return false;
  slot = simple->base_register == kStackPointer ? UnwindRule::Slot::kAtSp : UnwindRule::Slot::kAtFp;
  offset = static_cast<std::int32_t>(simple->offset);
  return true;
}

}  // namespace

bool IsSignalReturn(std::uint64_t lookup_pc) {
  if constexpr (kSignalReturnCode == 0) return false;
  const std::uint64_t at = InstructionOf(lookup_pc);
  std::uint64_t code = 0;
  if (!IsReadable(at)) return false;
  std::memcpy(&code, reinterpret_cast<const void*>(at), sizeof(code));
  return code == kSignalReturnCode;
}

UnwindRule Reduce(const FrameRow& row) {
  using Kind = RegisterRule::Kind;
  UnwindRule rule;
  const RegisterRule& return_address = row.registers[kReturnAddress];
  if (return_address.kind == Kind::kUndefined) {
    rule.kind = UnwindRule::Kind::kOutermost;
    return rule;
  }
  rule.kind = UnwindRule::Kind::kFull;
  if (!ReduceCfa(row.cfa, rule)) return rule;
  if (!ReduceSlot(return_address, rule.return_address, rule.return_address_offset)) return rule;

  const RegisterRule& fp = row.registers[kFramePointer];
  if (fp.kind != Kind::kSame && !ReduceSlot(fp, rule.fp, rule.fp_offset)) return rule;
  if (row.registers[kStackPointer].kind != Kind::kSame && !row.cfa.is_expression) return rule;
  rule.kind = UnwindRule::Kind::kCompact;
  return rule;
}

UnwindRule FindRule(const FrameSection& section, std::uint64_t pc, FrameRowReader& reader) {
  UnwindRule rule;
  switch (reader.Describe(section, pc)) {
    case DescriptionStatus::kNone:
      rule.is_signal_frame = IsSignalReturn(pc);
      rule.kind = rule.is_signal_frame ? UnwindRule::Kind::kFull : UnwindRule::Kind::kNoInfo;
      return rule;
    case DescriptionStatus::kMalformed:
      rule.kind = UnwindRule::Kind::kBadInfo;
      return rule;
    case DescriptionStatus::kFound:
      break;
  }
  const FrameRow* const row = reader.Read(pc);
  if (row == nullptr) {
    rule.kind = UnwindRule::Kind::kBadInfo;
    return rule;
  }
  rule = Reduce(*row);
  rule.is_signal_frame = reader.description().is_signal_frame;
  rule.is_plain = IsPlain(rule);
  return rule;
}

}  // namespace leakgate::agent
