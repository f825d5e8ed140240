// Rules from .pdata and .xdata. The codes of a function say what its prologue does, the last
// operation first:
//
//   push rbp           UWOP_PUSH_NONVOL rbp      codes, as they are stored:
//   push rbx           UWOP_PUSH_NONVOL rbx        ALLOC_SMALL 0x28    size 0x28
//   sub rsp, 0x28      UWOP_ALLOC_SMALL 0x28       PUSH_NONVOL rbx     size 0x30
//                                                  PUSH_NONVOL rbp     rbp at 0x30, size 0x38
//
//   cfa = rsp + 0x38 + 8, the return address at cfa - 8, the caller's rbp at cfa - 0x10
#include "plugin/agent/unwind/unwind_rule.h"

#include <windows.h>

namespace leakgate::agent {
namespace {

enum Operation : std::uint8_t {
  kPushNonvolatile = 0,
  kAllocLarge = 1,
  kAllocSmall = 2,
  kSetFramePointer = 3,
  kSaveNonvolatile = 4,
  kSaveNonvolatileFar = 5,
  kEpilog = 6,  // of version 2
  kSpare = 7,
  kSaveXmm = 8,
  kSaveXmmFar = 9,
};

constexpr std::uint32_t kRbp = 5;  // as these codes number registers
constexpr std::uint8_t kIsChained = 4;
constexpr std::uint32_t kMostChained = 32;

struct FrameCodes {
  std::uint8_t version_and_flags;
  std::uint8_t prologue_bytes;
  std::uint8_t count;
  std::uint8_t frame_register;  // and above that the offset, by 16
  std::uint16_t codes[1];

  std::uint8_t Version() const { return version_and_flags & 7; }
  std::uint8_t Flags() const { return version_and_flags >> 3; }
  // Stored behind the codes, whose number is rounded up to an even one.
  const RUNTIME_FUNCTION* Chained() const {
    return reinterpret_cast<const RUNTIME_FUNCTION*>(&codes[(count + 1) & ~1]);
  }
};

template <typename T>
const T* At(const FrameSection& section, std::uint64_t offset, std::uint64_t bytes = sizeof(T)) {
  const bool is_within = offset < section.bytes && bytes <= section.bytes - offset;
  return is_within ? reinterpret_cast<const T*>(section.image + offset) : nullptr;
}

// Returns the codes that `offset` leads to, with their chained entry; nullptr if they are not in
// the module.
const FrameCodes* CodesAt(const FrameSection& section, std::uint64_t offset) {
  constexpr std::uint64_t kHead = offsetof(FrameCodes, codes);
  const auto* const codes = At<FrameCodes>(section, offset, kHead);
  if (codes == nullptr) return nullptr;
  const std::uint64_t bytes = kHead + ((codes->count + 1U) & ~1U) * sizeof(std::uint16_t);
  const bool is_chained = (codes->Flags() & kIsChained) != 0;
  return At<FrameCodes>(section, offset, bytes + (is_chained ? sizeof(RUNTIME_FUNCTION) : 0));
}

const RUNTIME_FUNCTION* FindFunction(const FrameSection& section, std::uint64_t pc) {
  const auto* const table =
      reinterpret_cast<const RUNTIME_FUNCTION*>(section.image + section.table);
  const std::uint64_t offset = pc - section.image;
  std::uint32_t low = 0;
  std::uint32_t high = section.count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (offset < table[middle].BeginAddress) {
      high = middle;
    } else if (offset >= table[middle].EndAddress) {
      low = middle + 1;
    } else {
      return &table[middle];
    }
  }
  return nullptr;
}

// What the codes that have been read say of the frame.
struct Frame {
  std::uint64_t size = 0;    // what the prologue has taken from rsp, as operand32 as it was read
  bool has_pointer = false;  // rbp is the frame pointer
  std::uint64_t pointer_to_rsp = 0;  // rsp was so operand32 below rbp when rbp was set
  std::uint64_t size_after = 0;      // what was taken after that
  bool saves_rbp = false;
  bool is_saved_by_move = false;
  std::uint64_t saved_at = 0;  // distance from the lowest rsp of the prologue, or of the fixed part
};

enum class Reading { kRead, kNeedsRegisters, kNotUnderstood };

// Reads one function's codes. `offset` is that of the return address in the function: operations of
// the prologue from there on have not been done. Chained functions' prologues have been done.
Reading ReadCodes(const FrameCodes& info, std::uint64_t offset, Frame& frame) {
  for (std::uint32_t i = 0; i < info.count;) {
    const std::uint16_t code = info.codes[i];
    const auto operation = static_cast<std::uint8_t>((code >> 8) & 0xF);
    const auto operand = static_cast<std::uint32_t>(code >> 12);
    const std::uint32_t left = info.count - i;
    std::uint32_t slots = 1;
    if (operation == kAllocLarge) slots = operand == 0 ? 2 : 3;
    if (operation == kSaveNonvolatile || operation == kEpilog || operation == kSaveXmm) slots = 2;
    if (operation == kSaveNonvolatileFar || operation == kSpare || operation == kSaveXmmFar) {
      slots = 3;
    }
    if (slots > left) return Reading::kNotUnderstood;
    const std::uint64_t operand16 = slots == 2 ? info.codes[i + 1] : 0;
    const std::uint64_t operand32 =
        slots == 3 ? info.codes[i + 1] | std::uint64_t{info.codes[i + 2]} << 16 : 0;
    i += slots;
    const bool is_done = offset >= (code & 0xFFU);
    if (!is_done && operation != kEpilog) continue;
    switch (operation) {
      case kPushNonvolatile:
        if (operand == kRbp) {
          frame.saves_rbp = true;
          frame.is_saved_by_move = false;
          frame.saved_at = frame.size;
        }
        frame.size += 8;
        break;
      case kAllocLarge:
        frame.size += slots == 2 ? operand16 * 8 : operand32;
        break;
      case kAllocSmall:
        frame.size += operand * 8 + 8;
        break;
      case kSetFramePointer:
        if ((info.frame_register & 0xF) != kRbp) return Reading::kNeedsRegisters;
        frame.has_pointer = true;
        frame.pointer_to_rsp = (info.frame_register >> 4) * 16U;
        frame.size_after = frame.size;
        break;
      case kSaveNonvolatile:
      case kSaveNonvolatileFar:
        if (operand != kRbp) break;
        frame.saves_rbp = true;
        frame.is_saved_by_move = true;
        frame.saved_at = slots == 2 ? operand16 * 8 : operand32;
        break;
      case kEpilog:
      case kSpare:
      case kSaveXmm:
      case kSaveXmmFar:
        break;
      default:
        return Reading::kNeedsRegisters;  // a frame of the processor's, at an interrupt
    }
  }
  return Reading::kRead;
}

UnwindRule RuleOf(const Frame& frame) {
  UnwindRule rule;
  const std::uint64_t from_pointer = frame.size - frame.size_after - frame.pointer_to_rsp;
  std::uint64_t saved_at = frame.saved_at;
  if (frame.is_saved_by_move && frame.has_pointer) saved_at += frame.size_after;
  rule.kind = UnwindRule::Kind::kCompact;
  rule.is_plain = true;
  rule.cfa = frame.has_pointer ? UnwindRule::Cfa::kFpPlus : UnwindRule::Cfa::kSpPlus;
  rule.cfa_offset = static_cast<std::int32_t>((frame.has_pointer ? from_pointer : frame.size) + 8);
  rule.return_address_offset = -8;
  if (frame.saves_rbp) {
    rule.fp = UnwindRule::Slot::kAtCfa;
    rule.fp_offset = static_cast<std::int32_t>(saved_at - frame.size - 8);
  }
  return rule;
}

UnwindRule RuleOfKind(UnwindRule::Kind kind) {
  UnwindRule rule;
  rule.kind = kind;
  return rule;
}

}  // namespace

// `pc` is that of a call, one before the return address. So it is in no epilogue.
UnwindRule FindRule(const FrameSection& section, std::uint64_t pc, FrameRowReader&) {
  if (section.image == 0) return RuleOfKind(UnwindRule::Kind::kNoInfo);
  Frame frame;
  const RUNTIME_FUNCTION* function = FindFunction(section, pc);
  if (function == nullptr) return RuleOf(frame);  // a leaf: it has changed no register
  std::uint64_t offset = pc + 1 - section.image - function->BeginAddress;
  for (std::uint32_t chained = 0; chained < kMostChained; ++chained) {
    const FrameCodes* const codes = CodesAt(section, function->UnwindData);
    constexpr std::uint8_t kNewest = 2;
    if (codes == nullptr || codes->Version() == 0 || codes->Version() > kNewest) {
      return RuleOfKind(UnwindRule::Kind::kBadInfo);
    }
    switch (ReadCodes(*codes, offset, frame)) {
      case Reading::kRead:
        break;
      case Reading::kNeedsRegisters:
        return RuleOfKind(UnwindRule::Kind::kFull);
      case Reading::kNotUnderstood:
        return RuleOfKind(UnwindRule::Kind::kBadInfo);
    }
    if ((codes->Flags() & kIsChained) == 0) return RuleOf(frame);
    function = codes->Chained();
    offset = ~std::uint64_t{0};
  }
  return RuleOfKind(UnwindRule::Kind::kBadInfo);
}

}  // namespace leakgate::agent
