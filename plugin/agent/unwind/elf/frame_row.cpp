#include "plugin/agent/unwind/elf/frame_row.h"

#include "plugin/agent/unwind/elf/byte_cursor.h"

namespace leakgate::agent {
namespace {

enum Instruction : std::uint8_t {
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0A,
  kRestoreState = 0x0B,
  kDefCfa = 0x0C,
  kDefCfaRegister = 0x0D,
  kDefCfaOffset = 0x0E,
  kDefCfaExpression = 0x0F,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  // On aarch64: from here on the return address is signed, or no longer signed. Signatures are
  // always removed (arch/aarch64/return_address.h).
  kNegateRaStateWithPc = 0x2C,
  kNegateRaState = 0x2D,
  kGnuArgsSize = 0x2E,
  // With the operand in the low six bits:
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xC0,
};

using Kind = RegisterRule::Kind;

}  // namespace

// Runs the CIE's, then the FDE's instructions, until the location passes `pc`.
class RowBuilder {
 public:
  RowBuilder(const FrameDescription& description, std::uint64_t pc, FrameRowReader& reader)
      : description_(description), pc_(pc), reader_(reader), row_(reader.row_) {}

  bool Run() {
    if (!CanResume() && !Begin()) return false;
    reader_.pc_ = pc_;
    return Execute(reader_.at_, description_.program_end);
  }

 private:
  // Returns whether the instructions that were executed for an earlier pc are the first ones for
  // this pc, too.
  bool CanResume() const {
    return reader_.at_ != nullptr && reader_.program_begin_ == description_.program_begin &&
           reader_.pc_begin_ == description_.pc_begin && reader_.pc_ <= pc_;
  }

  bool Begin() {
    reader_.program_begin_ = description_.program_begin;
    reader_.pc_begin_ = reader_.location_ = description_.pc_begin;
    reader_.remembered_count_ = 0;
    row_ = {};
    if (!Execute(description_.initial_begin, description_.initial_end)) return false;
    reader_.initial_ = row_;
    reader_.at_ = description_.program_begin;
    return true;
  }

  bool Execute(const std::uint8_t* begin, const std::uint8_t* end) {
    ByteCursor cursor(begin, end);
    while (!cursor.at_end() && reader_.location_ <= pc_) {
      if (!Step(cursor) || cursor.failed()) return false;
    }
    reader_.at_ = cursor.position();
    return true;
  }

  bool Step(ByteCursor& cursor) {
    const auto instruction = cursor.Read<std::uint8_t>();
    const std::uint8_t operand = instruction & 0x3F;
    switch (instruction & 0xC0) {
      case kAdvanceLoc:
        Advance(operand);
        return true;
      case kOffset:
        SetRule(operand, {Kind::kAtCfa, 0, Factored(cursor.ReadUleb())});
        return true;
      case kRestore:
        Restore(operand);
        return true;
      default:
        return StepLocation(instruction, cursor) || StepCfa(instruction, cursor) ||
               StepRegister(instruction, cursor) || StepState(instruction, cursor);
    }
  }

  bool StepLocation(std::uint8_t instruction, ByteCursor& cursor) {
    switch (instruction) {
      case kSetLoc:
        reader_.location_ = cursor.ReadEncoded(description_.pointer_encoding);
        return true;
      case kAdvanceLoc1:
        Advance(cursor.Read<std::uint8_t>());
        return true;
      case kAdvanceLoc2:
        Advance(cursor.Read<std::uint16_t>());
        return true;
      case kAdvanceLoc4:
        Advance(cursor.Read<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool StepCfa(std::uint8_t instruction, ByteCursor& cursor) {
    CfaRule& cfa = row_.cfa;
    switch (instruction) {
      case kDefCfa:
        cfa = {false, cursor.ReadUleb(), 0, {}};
        cfa.offset = static_cast<std::int64_t>(cursor.ReadUleb());
        return true;
      case kDefCfaSf:
        cfa = {false, cursor.ReadUleb(), 0, {}};
        cfa.offset = cursor.ReadSleb() * description_.data_alignment;
        return true;
      case kDefCfaRegister:
        cfa.base_register = cursor.ReadUleb();
        return !cfa.is_expression;
      case kDefCfaOffset:
        cfa.offset = static_cast<std::int64_t>(cursor.ReadUleb());
        return true;
      case kDefCfaOffsetSf:
        cfa.offset = cursor.ReadSleb() * description_.data_alignment;
        return true;
      case kDefCfaExpression:
        cfa = {true, kStackPointer, 0, ReadExpression(cursor)};
        return true;
      default:
        return false;
    }
  }

  bool StepRegister(std::uint8_t instruction, ByteCursor& cursor) {
    if (instruction < kOffsetExtended || instruction > kValExpression) return false;
    if (instruction == kRememberState || instruction == kRestoreState) return false;

    const std::uint64_t number = cursor.ReadUleb();
    switch (instruction) {
      case kOffsetExtended:
        SetRule(number, {Kind::kAtCfa, 0, Factored(cursor.ReadUleb())});
        break;
      case kOffsetExtendedSf:
        SetRule(number, {Kind::kAtCfa, 0, FactoredSigned(cursor)});
        break;
      case kValOffset:
        SetRule(number, {Kind::kCfaPlus, 0, Factored(cursor.ReadUleb())});
        break;
      case kValOffsetSf:
        SetRule(number, {Kind::kCfaPlus, 0, FactoredSigned(cursor)});
        break;
      case kRestoreExtended:
        Restore(number);
        break;
      case kUndefined:
        SetRule(number, {Kind::kUndefined, 0, 0});
        break;
      case kSameValue:
        SetRule(number, {Kind::kSame, 0, 0});
        break;
      case kRegister:
        SetRule(number, {Kind::kRegister, 0, static_cast<std::int64_t>(cursor.ReadUleb())});
        break;
      case kExpression:
        SetRule(number, ExpressionRule(Kind::kAtExpression, cursor));
        break;
      case kValExpression:
        SetRule(number, ExpressionRule(Kind::kExpression, cursor));
        break;
      default:
        return false;
    }
    return true;
  }

  bool StepState(std::uint8_t instruction, ByteCursor& cursor) {
    switch (instruction) {
      case kNop:
      case kNegateRaState:
      case kNegateRaStateWithPc:
        return true;
      case kGnuArgsSize:
        cursor.ReadUleb();
        return true;
      case kRememberState:
        if (reader_.remembered_count_ == FrameRowReader::kMaxRemembered) return false;
        reader_.remembered_[reader_.remembered_count_++] = row_;
        return true;
      case kRestoreState:
        if (reader_.remembered_count_ == 0) return false;
        row_ = reader_.remembered_[--reader_.remembered_count_];
        return true;
      default:
        return false;
    }
  }

  void Advance(std::uint64_t delta) { reader_.location_ += delta * description_.code_alignment; }

  std::int64_t Factored(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset) * description_.data_alignment;
  }

  std::int64_t FactoredSigned(ByteCursor& cursor) const {
    return cursor.ReadSleb() * description_.data_alignment;
  }

  // Vector registers and the like have higher numbers, and are of no use here.
  void SetRule(std::uint64_t number, const RegisterRule& rule) {
    if (number < kRegisterCount) row_.registers[number] = rule;
  }

  void Restore(std::uint64_t number) {
    if (number < kRegisterCount) row_.registers[number] = reader_.initial_.registers[number];
  }

  static Expression ReadExpression(ByteCursor& cursor) {
    const std::uint64_t length = cursor.ReadUleb();
    const std::uint8_t* const begin = cursor.position();
    cursor.Skip(length);
    return {begin, cursor.position()};
  }

  static RegisterRule ExpressionRule(Kind kind, ByteCursor& cursor) {
    const Expression expression = ReadExpression(cursor);
    return {kind, static_cast<std::uint32_t>(expression.end - expression.begin),
            reinterpret_cast<std::int64_t>(expression.begin)};
  }

  const FrameDescription& description_;
  const std::uint64_t pc_;
  FrameRowReader& reader_;
  FrameRow& row_;
};

DescriptionStatus FrameRowReader::Describe(const FrameSection& section, std::uint64_t pc) {
  if (pc >= description_.pc_begin && pc < description_.pc_end) return DescriptionStatus::kFound;
  description_ = {};
  const DescriptionStatus status = FindFrameDescription(section, pc, description_);
  if (status != DescriptionStatus::kFound) description_ = {};
  return status;
}

const FrameRow* FrameRowReader::Read(std::uint64_t pc) {
  if (description_.return_address_register != kReturnAddress) return nullptr;
  if (RowBuilder(description_, pc, *this).Run()) return &row_;
  at_ = nullptr;
  return nullptr;
}

}  // namespace leakgate::agent
