#include "plugin/agent/unwind/elf/expression.h"

#include "plugin/agent/unwind/elf/byte_cursor.h"

namespace leakgate::agent {
namespace {

enum Operation : std::uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0A,
  kConst2s = 0x0B,
  kConst4u = 0x0C,
  kConst4s = 0x0D,
  kConst8u = 0x0E,
  kConst8s = 0x0F,
  kConstu = 0x10,
  kConsts = 0x11,
  kDup = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kPick = 0x15,
  kSwap = 0x16,
  kAnd = 0x1A,
  kMinus = 0x1C,
  kMul = 0x1E,
  kNeg = 0x1F,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusUconst = 0x23,
  kShl = 0x24,
  kShr = 0x25,
  kShra = 0x26,
  kXor = 0x27,
  kBranch = 0x28,
  kEq = 0x29,
  kGe = 0x2A,
  kGt = 0x2B,
  kLe = 0x2C,
  kLt = 0x2D,
  kNe = 0x2E,
  kSkip = 0x2F,
  kLit0 = 0x30,
  kLit31 = 0x4F,
  kBreg0 = 0x70,
  kBreg31 = 0x8F,
  kBregx = 0x92,
  kNop = 0x96,
};

// The machine of DWARF expressions: a stack of words. Once an error has occurred, it stays.
class Machine {
 public:
  Machine(const Expression& expression, const RegisterFile& registers, StackMemory& memory)
      : expression_(expression),
        cursor_(expression.begin, expression.end),
        registers_(registers),
        memory_(memory) {}

  void Push(std::uint64_t value) {
    if (depth_ == kCapacity) return Fail();
    stack_[depth_++] = value;
  }

  std::optional<std::uint64_t> Run() {
    constexpr int kMaxSteps = 1000;  // branches can loop
    for (int step = 0; !cursor_.at_end(); ++step) {
      if (step == kMaxSteps) Fail();
      if (failed_ || cursor_.failed()) return std::nullopt;
      Step(cursor_.Read<std::uint8_t>());
    }
    if (failed_ || cursor_.failed() || depth_ == 0) return std::nullopt;
    return stack_[depth_ - 1];
  }

 private:
  static constexpr int kCapacity = 32;

  void Fail() { failed_ = true; }

  std::uint64_t Pop() {
    if (depth_ == 0) {
      Fail();
      return 0;
    }
    return stack_[--depth_];
  }

  void Step(std::uint8_t operation) {
    if (operation >= kLit0 && operation <= kLit31) return Push(operation - kLit0);
    if (operation >= kBreg0 && operation <= kBreg31) return PushRegister(operation - kBreg0);
    if (operation == kBregx) return PushRegister(cursor_.ReadUleb());
    if (PushConstant(operation) || MoveWords(operation) || Control(operation)) return;
    if (Unary(operation) || Binary(operation)) return;
    Fail();
  }

  void PushRegister(std::uint64_t number) {
    const auto offset = static_cast<std::uint64_t>(cursor_.ReadSleb());
    if (registers_.Knows(number)) return Push(registers_.value[number] + offset);
    const std::optional<std::uint64_t> common = CommonRegister(number);
    if (!common) return Fail();
    Push(*common + offset);
  }

  template <typename T>
  bool PushRead() {
    Push(static_cast<std::uint64_t>(static_cast<std::int64_t>(cursor_.Read<T>())));
    return true;
  }

  bool PushConstant(std::uint8_t operation) {
    switch (operation) {
      case kAddr:
      case kConst8u:
      case kConst8s:
        return PushRead<std::int64_t>();
      case kConst1u:
        return PushRead<std::uint8_t>();
      case kConst1s:
        return PushRead<std::int8_t>();
      case kConst2u:
        return PushRead<std::uint16_t>();
      case kConst2s:
        return PushRead<std::int16_t>();
      case kConst4u:
        return PushRead<std::uint32_t>();
      case kConst4s:
        return PushRead<std::int32_t>();
      case kConstu:
        Push(cursor_.ReadUleb());
        return true;
      case kConsts:
        Push(static_cast<std::uint64_t>(cursor_.ReadSleb()));
        return true;
      default:
        return false;
    }
  }

  void Pick(int below_top) {
    if (below_top >= depth_) return Fail();
    Push(stack_[depth_ - 1 - below_top]);
  }

  bool MoveWords(std::uint8_t operation) {
    switch (operation) {
      case kNop:
        return true;
      case kDup:
        Pick(0);
        return true;
      case kOver:
        Pick(1);
        return true;
      case kPick:
        Pick(cursor_.Read<std::uint8_t>());
        return true;
      case kDrop:
        Pop();
        return true;
      case kSwap: {
        const std::uint64_t top = Pop();
        const std::uint64_t next = Pop();
        Push(top);
        Push(next);
        return true;
      }
      default:
        return false;
    }
  }

  void Jump(std::int16_t distance) {
    const std::uint8_t* const target = cursor_.position() + distance;
    if (target < expression_.begin || target > expression_.end) return Fail();
    cursor_ = ByteCursor(target, expression_.end);
  }

  bool Control(std::uint8_t operation) {
    if (operation != kSkip && operation != kBranch) return false;
    const auto distance = cursor_.Read<std::int16_t>();
    if (operation == kSkip || Pop() != 0) Jump(distance);
    return true;
  }

  bool Unary(std::uint8_t operation) {
    switch (operation) {
      case kDeref: {
        std::uint64_t word = 0;
        if (!memory_.Read(Pop(), word)) Fail();
        Push(word);
        return true;
      }
      case kNeg:
        Push(0 - Pop());
        return true;
      case kNot:
        Push(~Pop());
        return true;
      case kPlusUconst:
        Push(Pop() + cursor_.ReadUleb());
        return true;
      default:
        return false;
    }
  }

  bool Binary(std::uint8_t operation) {
    if (operation < kAnd || operation > kNe) return false;
    const std::uint64_t right = Pop();
    const std::uint64_t left = Pop();
    const auto signed_left = static_cast<std::int64_t>(left);
    const auto signed_right = static_cast<std::int64_t>(right);
    switch (operation) {
      case kAnd:
        Push(left & right);
        return true;
      case kOr:
        Push(left | right);
        return true;
      case kXor:
        Push(left ^ right);
        return true;
      case kPlus:
        Push(left + right);
        return true;
      case kMinus:
        Push(left - right);
        return true;
      case kMul:
        Push(left * right);
        return true;
      case kShl:
        Push(right < 64 ? left << right : 0);
        return true;
      case kShr:
        Push(right < 64 ? left >> right : 0);
        return true;
      case kShra:
        Push(static_cast<std::uint64_t>(signed_left >> (right < 63 ? right : 63)));
        return true;
      case kEq:
        Push(left == right);
        return true;
      case kNe:
        Push(left != right);
        return true;
      case kGe:
        Push(signed_left >= signed_right);
        return true;
      case kGt:
        Push(signed_left > signed_right);
        return true;
      case kLe:
        Push(signed_left <= signed_right);
        return true;
      case kLt:
        Push(signed_left < signed_right);
        return true;
      default:
        return false;
    }
  }

  const Expression expression_;
  ByteCursor cursor_;
  const RegisterFile& registers_;
  StackMemory& memory_;
  std::uint64_t stack_[kCapacity] = {};
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::uint64_t> Evaluate(const Expression& expression, const RegisterFile& registers,
                                      StackMemory& memory, std::optional<std::uint64_t> initial) {
  Machine machine(expression, registers, memory);
  if (initial) machine.Push(*initial);
  return machine.Run();
}

}  // namespace leakgate::agent
