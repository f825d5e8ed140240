#include "runner/arch/moved_entry.h"

#include <cstring>

namespace leakgate {

// A branch reaches 128 MiB.
std::uint64_t FarthestHook() { return 96ULL << 20; }

namespace {

template <typename T>
using Result = tl::expected<T, const char*>;
using Failure = tl::unexpected<const char*>;

constexpr std::size_t kInstructionBytes = 4;
constexpr std::uint32_t kReservedRegister =
    16;  // and the next: for linkers' code between functions
constexpr std::size_t kSlotBytes = 16;

bool IsLandingMark(std::uint32_t instruction) {  // bti, bti c, bti j, bti jc
  return (instruction & 0xffff'ff3f) == 0xd503'241f;
}
bool IsBranch(std::uint32_t instruction) { return (instruction & 0xfc00'0000) == 0x1400'0000; }
bool IsCall(std::uint32_t instruction) {  // bl, blr
  return (instruction & 0xfc00'0000) == 0x9400'0000 || (instruction & 0xffdf'f800) == 0xd63f'0000;
}
bool IsConditional(std::uint32_t instruction) {  // b.cond, cbz, cbnz
  return (instruction & 0xff00'0000) == 0x5400'0000 || (instruction & 0x7e00'0000) == 0x3400'0000;
}
bool IsTestedBranch(std::uint32_t instruction) {  // tbz, tbnz
  return (instruction & 0x7e00'0000) == 0x3600'0000;
}
bool IsAddress(std::uint32_t instruction) { return (instruction & 0x1f00'0000) == 0x1000'0000; }
bool IsLiteralLoad(std::uint32_t instruction) { return (instruction & 0x3b00'0000) == 0x1800'0000; }

std::int64_t SignExtended(std::uint32_t value, unsigned bits) {
  const std::int64_t sign = std::int64_t{1} << (bits - 1);
  return (std::int64_t{value} ^ sign) - sign;
}

class EntryMover {
 public:
  EntryMover(const FunctionCode& function, std::uint64_t to) : function_(function), to_(to) {}

  Result<MovedEntry> Move() {
    std::size_t at = 0;
    std::uint32_t instruction = InstructionAt(at);
    if (IsLandingMark(instruction)) instruction = InstructionAt(at += kInstructionBytes);
    if (at + kInstructionBytes > function_.bytes) return Failure("it is too short for a jump");
    MovedEntry entry;
    entry.address = function_.address + at;
    entry.slot = to_;
    AppendWord(0);
    AppendWord(0);
    AppendLoadOf(kReservedRegister, to_);
    AppendLoadOf(kReservedRegister + 1, to_ + kSlotBytes / 2);
    Append(0xd61f'0000 | (kReservedRegister + 1) << 5);  // br x17
    entry.moved = Here();
    if (const Result<void> moved = MoveOne(instruction, entry.address); !moved) {
      return Failure(moved.error());
    }
    AppendJump(entry.address + kInstructionBytes);
    const auto distance = static_cast<std::int64_t>(to_ + kSlotBytes - entry.address);
    const std::uint32_t jump =
        0x1400'0000 | (static_cast<std::uint32_t>(distance / 4) & 0x03ff'ffff);
    entry.patch.resize(kInstructionBytes);
    std::memcpy(entry.patch.data(), &jump, kInstructionBytes);
    if (!fits_) return Failure("it is too far from memory that is free");
    entry.hook = std::move(code_);
    return entry;
  }

 private:
  [[nodiscard]] std::uint64_t Here() const { return to_ + code_.size(); }
  [[nodiscard]] std::uint32_t InstructionAt(std::size_t at) const {
    std::uint32_t instruction = 0;
    if (at + kInstructionBytes <= function_.code.size()) {
      std::memcpy(&instruction, &function_.code[at], kInstructionBytes);
    }
    return instruction;
  }
  void Append(std::uint32_t instruction) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&instruction);
    code_.insert(code_.end(), bytes, bytes + kInstructionBytes);
  }
  void AppendWord(std::uint64_t word) {
    Append(static_cast<std::uint32_t>(word));
    Append(static_cast<std::uint32_t>(word >> 32));
  }
  // Appends ldr of a register from the word at `place`, which is near.
  void AppendLoadOf(std::uint32_t number, std::uint64_t place) {
    const auto distance = static_cast<std::int64_t>(place - Here());
    Append(0x5800'0000 | (static_cast<std::uint32_t>(distance / 4) & 0x7'ffff) << 5 | number);
  }
  // Appends a load of `value` into `number`, with the value in the code.
  void AppendValue(std::uint32_t number, std::uint64_t value) {
    Append(0x5800'0000 | 2U << 5 | number);  // ldr x, .+8
    Append(0x1400'0000 | 3U);                // b .+12
    AppendWord(value);
  }
  // Appends b: an indirect jump may land only where the code has a mark.
  void AppendJump(std::uint64_t target) {
    constexpr std::int64_t kFarthest = 128 << 20;
    const auto distance = static_cast<std::int64_t>(target - Here());
    fits_ = fits_ && distance >= -kFarthest && distance < kFarthest;
    Append(0x1400'0000 | (static_cast<std::uint32_t>(distance / 4) & 0x03ff'ffff));
  }

  Result<void> MoveOne(std::uint32_t instruction, std::uint64_t at) {
    if (instruction == 0) return Failure("its machine code is not known");
    if (IsCall(instruction)) return Failure("it begins with a call");
    if (IsLiteralLoad(instruction)) {
      return Failure("it begins with an instruction that cannot be moved");
    }
    if (IsBranch(instruction)) {
      AppendJump(at + static_cast<std::uint64_t>(SignExtended(instruction & 0x03ff'ffff, 26) * 4));
      return {};
    }
    if (IsConditional(instruction) || IsTestedBranch(instruction)) {
      const bool is_tested = IsTestedBranch(instruction);
      const std::uint32_t mask = is_tested ? 0x3fff : 0x7'ffff;
      const std::int64_t distance = SignExtended(instruction >> 5 & mask, is_tested ? 14 : 19) * 4;
      const std::uint64_t target = at + static_cast<std::uint64_t>(distance);
      Append((instruction & ~(mask << 5)) | 2U << 5);  // to .+8
      Append(0x1400'0000 | 2U);                        // b .+8
      AppendJump(target);
      return {};
    }
    if (IsAddress(instruction)) {
      const bool is_page = (instruction & 0x8000'0000) != 0;
      const std::uint32_t number = (instruction >> 3 & 0x1f'fffc) | (instruction >> 29 & 3);
      const std::int64_t distance = SignExtended(number, 21);
      const std::uint64_t value =
          is_page ? (at & ~std::uint64_t{4095}) + static_cast<std::uint64_t>(distance * 4096)
                  : at + static_cast<std::uint64_t>(distance);
      AppendValue(instruction & 31, value);
      return {};
    }
    Append(instruction);
    return {};
  }

  const FunctionCode& function_;
  std::uint64_t to_;
  std::vector<std::uint8_t> code_;
  bool fits_ = true;
};

}  // namespace

tl::expected<MovedEntry, const char*> MoveEntry(const FunctionCode& function, std::uint64_t to) {
  return EntryMover(function, to).Move();
}

}  // namespace leakgate
