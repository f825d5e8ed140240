// Follows the pointer through registers and the function's own frame, along all ways to a return.
// Only the instructions that compilers write in such functions are known.
#include "runner/arch/return_value.h"

#include <array>
#include <map>
#include <optional>

#include "runner/arch/aarch64/instructions.h"

namespace leakgate {
namespace {

constexpr int kMostSteps = 256;  // on all paths together
constexpr std::uint64_t kMostScanned = 1024;
constexpr unsigned kFrameRegister = 29;
constexpr unsigned kStackRegister = 31;
constexpr std::int64_t kSlotBytes = 8;

// What a register or a word of the frame holds.
enum class Content {
  kOther,
  kDerived,  // made from the pointer: it may lead to the block, and is not the pointer
  kPointer,
};

struct Memory {
  unsigned base = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

enum class Index { kNone, kBefore, kAfter };  // when the base register is changed

// A load or store of one or two registers.
struct Access {
  Memory memory;
  unsigned registers[2] = {kZeroRegister, kZeroRegister};
  int count = 1;
  bool is_load = false;
  bool is_vector = false;
  Index index = Index::kNone;
  std::int64_t step = 0;  // by which the base register changes
};

std::optional<Index> IndexOf(unsigned mode) {
  constexpr unsigned kAfter = 1;
  constexpr unsigned kBefore = 3;
  if (mode == kAfter) return Index::kAfter;
  if (mode == kBefore) return Index::kBefore;
  return Index::kNone;
}

// Decodes ldp and stp.
std::optional<Access> DecodePair(std::uint32_t it) {
  if ((it & 0x3A00'0000) != 0x2800'0000) return std::nullopt;
  const unsigned kind = Field(it, 30, 2);
  Access access;
  access.count = 2;
  access.is_vector = Field(it, 26, 1) != 0;
  access.is_load = Field(it, 22, 1) != 0;
  if (kind == 3 || (kind == 1 && !access.is_vector)) return std::nullopt;
  const std::int64_t scale =
      access.is_vector ? std::int64_t{4} << kind : (kind == 0 ? kSlotBytes / 2 : kSlotBytes);
  const std::int64_t offset = SignedField(it, 15, 7) * scale;
  access.index = *IndexOf(Field(it, 23, 2));
  access.step = offset;
  access.memory = {Field(it, 5, 5), access.index == Index::kAfter ? 0 : offset, scale};
  access.registers[0] = Field(it, 0, 5);
  access.registers[1] = Field(it, 10, 5);
  return access;
}

// Decodes ldr, str and those of fewer bytes, with a constant offset.
std::optional<Access> DecodeSingle(std::uint32_t it) {
  const bool is_scaled = (it & 0x3B00'0000) == 0x3900'0000;
  const bool is_unscaled = (it & 0x3B20'0000) == 0x3800'0000;
  if (!is_scaled && !is_unscaled) return std::nullopt;
  Access access;
  access.is_vector = Field(it, 26, 1) != 0;
  const unsigned operation = Field(it, 22, 2);
  unsigned size = Field(it, 30, 2);
  if (access.is_vector && operation >= 2) size = 4;
  if (!access.is_vector && operation >= 2 && size == 3) return std::nullopt;  // prefetches
  access.is_load = access.is_vector ? (operation & 1) != 0 : operation != 0;
  const std::int64_t bytes = std::int64_t{1} << size;
  access.memory = {Field(it, 5, 5), 0, bytes};
  access.registers[0] = Field(it, 0, 5);
  if (is_scaled) {
    access.memory.offset = static_cast<std::int64_t>(Field(it, 10, 12)) * bytes;
    return access;
  }
  constexpr unsigned kUnprivileged = 2;
  if (Field(it, 10, 2) == kUnprivileged) return std::nullopt;
  access.index = *IndexOf(Field(it, 10, 2));
  access.step = SignedField(it, 12, 9);
  access.memory.offset = access.index == Index::kAfter ? 0 : access.step;
  return access;
}

// Where the pointer is at one point of the code. Words of the frame are named by how far they are
// from where the stack pointer was when the call returned.
struct Places {
  std::array<Content, 32> registers{Content::kPointer};
  std::map<std::int64_t, Content> words;
  std::int64_t stack = 0;             // where the stack pointer is
  std::optional<std::int64_t> frame;  // where the frame pointer is; nothing if x29 is anything else
  bool is_just_tested = false;        // for null, by the last instruction

  [[nodiscard]] Content Of(unsigned reg) const { return registers[reg]; }
  void Set(unsigned reg, Content content) {
    if (reg == kFrameRegister) frame.reset();
    if (reg != kZeroRegister) registers[reg] = content;
  }
};

class PointerWalk {
 public:
  PointerWalk(const CodeReader& read, std::optional<std::int64_t> frame)
      : read_(read), frame_(frame) {}

  // Returns whether all ways from `address` return the pointer and do nothing else with it.
  bool FollowFrom(std::uint64_t address) {
    Places places;
    places.frame = frame_;
    return Follow(address, places);
  }

 private:
  bool Follow(std::uint64_t address, Places places) {
    while (++steps_ <= kMostSteps) {
      const auto instruction = ReadInstruction(address, read_);
      if (!instruction) return false;
      const bool was_tested = places.is_just_tested;
      places.is_just_tested = false;
      const std::uint64_t next = address + kInstructionBytes;
      if (IsReturn(*instruction)) return places.Of(0) == Content::kPointer;
      if (const auto target = JumpTarget(*instruction, address)) {
        address = *target;
      } else if (const auto branch = BranchOf(*instruction, address, was_tested, places)) {
        if (branch->is_taken && branch->is_passed && !Follow(branch->target, places)) return false;
        address = branch->is_passed ? next : branch->target;
      } else if (Execute(*instruction, was_tested, places)) {
        address = next;
      } else {
        return false;
      }
    }
    return false;
  }

  static bool IsReturn(std::uint32_t it) {  // ret, retaa, retab
    return it == 0xD65F'03C0 || it == 0xD65F'0BFF || it == 0xD65F'0FFF;
  }

  struct Branch {
    std::uint64_t target = 0;
    bool is_taken = true;  // where the pointer is not null
    bool is_passed = true;
  };

  // Conditional branches. What happens where the pointer is null does not matter.
  static std::optional<Branch> BranchOf(std::uint32_t it, std::uint64_t address, bool was_tested,
                                        const Places& places) {
    const auto at = [address](std::int64_t words) {
      return address + static_cast<std::uint64_t>(words * 4);
    };
    if ((it & 0xFF00'0000) == 0x5400'0000) {  // b.cond
      constexpr unsigned kEqual = 0;
      constexpr unsigned kNotEqual = 1;
      const unsigned condition = Field(it, 0, 4);
      return Branch{.target = at(SignedField(it, 5, 19)),
                    .is_taken = !(was_tested && condition == kEqual),
                    .is_passed = !(was_tested && condition == kNotEqual)};
    }
    if ((it & 0x7E00'0000) == 0x3400'0000) {  // cbz, cbnz
      const bool is_wide = Field(it, 31, 1) != 0;
      const bool tests = is_wide && places.Of(Field(it, 0, 5)) == Content::kPointer;
      const bool if_not_null = Field(it, 24, 1) != 0;
      return Branch{.target = at(SignedField(it, 5, 19)),
                    .is_taken = !tests || if_not_null,
                    .is_passed = !tests || !if_not_null};
    }
    if ((it & 0x7E00'0000) == 0x3600'0000) return Branch{at(SignedField(it, 5, 14))};  // tbz, tbnz
    return std::nullopt;
  }

  // Returns false if the instruction is not known, or does something else with the pointer.
  bool Execute(std::uint32_t it, bool was_tested, Places& places) const {
    if (IsHarmlessHint(it)) return true;
    if (const auto access = DecodePair(it)) return Move(*access, places);
    if (const auto access = DecodeSingle(it)) return Move(*access, places);
    const bool sets_vector = (it & 0x9FF8'0400) == 0x0F00'0400;  // movi
    const bool is_barrier = (it & 0xFFFF'F01F) == 0xD503'301F;
    if (sets_vector || is_barrier) return true;
    const bool is_address = (it & 0x1F00'0000) == 0x1000'0000;  // adr, adrp
    const bool is_literal = (it & 0xFF00'0000) == 0x5800'0000;  // ldr of a word beside the code
    const bool is_system = (it & 0xFFF0'0000) == 0xD530'0000;   // mrs
    if (is_address || is_literal || is_system) {
      places.Set(Field(it, 0, 5), Content::kOther);
      return true;
    }
    if ((it & 0x1F80'0000) == 0x1100'0000) return AddConstant(it, places);
    return Compute(it, was_tested, places);
  }

  // Returns where in the frame the memory is; nothing if it is elsewhere.
  static std::optional<std::int64_t> WordOf(const Memory& memory, const Places& places) {
    if (memory.base == kStackRegister) return places.stack + memory.offset;
    if (memory.base == kFrameRegister && places.frame) return *places.frame + memory.offset;
    return std::nullopt;
  }

  bool Move(Access access, Places& places) const {
    // Where x29 is not used as the frame pointer, it may lead anywhere.
    const bool is_unknown = access.memory.base == kFrameRegister && !places.frame;
    if (is_unknown && !places.words.empty()) return false;
    if (access.index == Index::kBefore) {
      if (!ChangeBase(access, places)) return false;
      access.memory.offset = 0;
    }
    for (int i = 0; i < access.count; ++i) {
      const Memory memory{access.memory.base, access.memory.offset + i * access.memory.bytes,
                          access.memory.bytes};
      const unsigned reg = access.registers[i];
      const auto word = WordOf(memory, places);
      const Content content = word ? Read(*word, memory.bytes, places) : Content::kOther;
      if (access.is_vector) {
        if (content != Content::kOther && access.is_load) return false;
        if (!access.is_load && word) Forget(*word, memory.bytes, places);
      } else if (access.is_load) {
        places.Set(reg, content);
      } else if (!Store(memory, word, places.Of(reg), places)) {
        return false;
      }
    }
    return access.index != Index::kAfter || ChangeBase(access, places);
  }

  static bool ChangeBase(const Access& access, Places& places) {
    const unsigned base = access.memory.base;
    if (base == kStackRegister) {
      places.stack += access.step;
    } else if (base == kFrameRegister && places.frame) {
      return false;
    } else if (places.Of(base) == Content::kPointer) {
      places.Set(base, Content::kDerived);
    }
    return true;
  }

  static Content Read(std::int64_t word, std::int64_t bytes, const Places& places) {
    Content read = Content::kOther;
    for (const auto& [at, content] : places.words) {
      if (at == word && bytes == kSlotBytes) return content;
      if (at < word + bytes && word < at + kSlotBytes) read = Content::kDerived;
    }
    return read;
  }

  static void Forget(std::int64_t word, std::int64_t bytes, Places& places) {
    std::erase_if(places.words, [&](const auto& entry) {
      return entry.first < word + bytes && word < entry.first + kSlotBytes;
    });
  }

  // Returns whether the store is harmless.
  static bool Store(const Memory& memory, std::optional<std::int64_t> word, Content content,
                    Places& places) {
    if (!word) return content == Content::kOther;
    Forget(*word, memory.bytes, places);
    if (content == Content::kOther) return true;
    if (memory.bytes != kSlotBytes) return false;
    places.words[*word] = content;
    return true;
  }

  static Content Mix(Content one, Content other) {
    const bool is_other = one == Content::kOther && other == Content::kOther;
    return is_other ? Content::kOther : Content::kDerived;
  }

  // add and sub of a constant, which may move the stack pointer; and cmp.
  static bool AddConstant(std::uint32_t it, Places& places) {
    const unsigned target = Field(it, 0, 5);
    const unsigned base = Field(it, 5, 5);
    const bool is_wide = Field(it, 31, 1) != 0;
    const bool subtracts = Field(it, 30, 1) != 0;
    const bool sets_flags = Field(it, 29, 1) != 0;
    const std::int64_t constant = static_cast<std::int64_t>(Field(it, 10, 12))
                                  << (Field(it, 22, 1) != 0 ? 12 : 0);
    if (target == kZeroRegister && sets_flags) {
      places.is_just_tested = is_wide && subtracts && constant == 0 && base != kStackRegister &&
                              places.Of(base) == Content::kPointer;
      return true;
    }
    const auto from = WordOf({base, subtracts ? -constant : constant, 0}, places);
    if (target == kStackRegister) {
      if (from) places.stack = *from;
      return from.has_value();
    }
    // The frame's memory may be changed through its address.
    if (from) return false;
    places.Set(target, Mix(places.Of(base), Content::kOther));
    return true;
  }

  // Handles all instructions that compute a register from others.
  static bool Compute(std::uint32_t it, bool was_tested, Places& places) {
    const unsigned target = Field(it, 0, 5);
    const Content one = places.Of(Field(it, 5, 5));
    const Content other = places.Of(Field(it, 16, 5));
    const bool is_constant_move = (it & 0x1F80'0000) == 0x1280'0000;  // movz, movn, movk
    if (is_constant_move) {
      const bool keeps_part = Field(it, 29, 2) == 3;
      places.Set(target, keeps_part ? Mix(places.Of(target), Content::kOther) : Content::kOther);
      return true;
    }
    if ((it & 0x1F80'0000) == 0x1200'0000) {  // and, orr, eor of a constant; tst
      const bool sets_flags = Field(it, 29, 2) == 3;
      if (target == kStackRegister && !sets_flags) return false;
      places.Set(target, Mix(one, Content::kOther));
      return true;
    }
    if ((it & 0xFFE0'FFE0) == 0xAA00'03E0) {  // mov
      places.Set(target, other);
      return true;
    }
    if ((it & 0x1F00'0000) == 0x0A00'0000) {  // and, orr, eor, bic
      const bool is_test = (it & 0xFFE0'FC1F) == 0xEA00'001F;
      places.is_just_tested =
          is_test && Field(it, 5, 5) == Field(it, 16, 5) && one == Content::kPointer;
      places.Set(target, Mix(one, other));
      return true;
    }
    if ((it & 0x1FE0'0000) == 0x1A80'0000) {  // csel, csinc, csinv, csneg
      places.Set(target, Select(it, was_tested, one, other));
      return true;
    }
    if ((it & 0x1FE0'0000) == 0x1A40'0000) return Field(it, 4, 1) == 0;  // ccmp, ccmn
    const bool is_shifted_add = (it & 0x1F20'0000) == 0x0B00'0000;
    const bool has_two = (it & 0x7FE0'0000) == 0x1AC0'0000;  // shifts, divisions
    if (is_shifted_add || has_two) {
      places.Set(target, Mix(one, other));
      return true;
    }
    const bool is_extended_add = (it & 0x1FE0'0000) == 0x0B20'0000;
    if (is_extended_add) {
      const bool is_of_stack = target == kStackRegister || Field(it, 5, 5) == kStackRegister;
      places.Set(target, Mix(one, other));
      return !is_of_stack;
    }
    const bool is_bit_field = (it & 0x1F80'0000) == 0x1300'0000;  // lsl, lsr, sxtw, ubfx
    const bool is_bit_insert = is_bit_field && Field(it, 29, 2) == 1;
    if (is_bit_field) {
      places.Set(target, Mix(one, is_bit_insert ? places.Of(target) : Content::kOther));
      return true;
    }
    if ((it & 0x1F00'0000) == 0x1B00'0000) {  // madd, msub, umulh
      places.Set(target, Mix(Mix(one, other), places.Of(Field(it, 10, 5))));
      return true;
    }
    return false;
  }

  static Content Select(std::uint32_t it, bool was_tested, Content one, Content other) {
    constexpr unsigned kEqual = 0;
    constexpr unsigned kNotEqual = 1;
    const bool is_plain = (it & 0xFFE0'0C00) == 0x9A80'0000;
    const unsigned condition = Field(it, 12, 4);
    if (is_plain && was_tested && condition == kNotEqual) return one;
    if (is_plain && was_tested && condition == kEqual) return other;
    if (is_plain && one == Content::kPointer && other == Content::kPointer) return one;
    return Mix(one, other);
  }

  const CodeReader& read_;
  const std::optional<std::int64_t> frame_;
  int steps_ = 0;
};

// What a function does with its frame before the call.
struct FrameUse {
  std::optional<std::int64_t> frame;  // how far the frame pointer is above the stack pointer
  bool lends_frame = false;  // an address of the frame is computed, and may be kept anywhere
};

// Reads a function's code from its beginning to `end`, without following jumps.
FrameUse ReadFrameUse(std::uint64_t function, std::uint64_t end, const CodeReader& read) {
  FrameUse use;
  if (function == 0 || function >= end || end - function > kMostScanned) return use;
  for (std::uint64_t at = function; at < end; at += kInstructionBytes) {
    const auto it = ReadInstruction(at, read);
    if (!it) return {};
    const unsigned target = Field(*it, 0, 5);
    const bool is_constant_add = (*it & 0x1F80'0000) == 0x1100'0000 && Field(*it, 29, 1) == 0;
    const bool is_extended_add = (*it & 0x1FE0'0000) == 0x0B20'0000;
    const unsigned base = Field(*it, 5, 5);
    if (is_constant_add && base == kStackRegister && target == kFrameRegister) {
      const bool is_plain = (*it & 0xFFC0'0000) == 0x9100'0000;
      use.frame = is_plain ? std::optional<std::int64_t>(Field(*it, 10, 12)) : std::nullopt;
      continue;
    }
    const bool is_of_frame = base == kStackRegister || (use.frame && base == kFrameRegister);
    if ((is_constant_add || is_extended_add) && is_of_frame && target != kStackRegister) {
      use.lends_frame = true;
    }
    // What makes room after the frame pointer was set moves the stack pointer away from it. What
    // gives room back belongs to an early return.
    const bool subtracts = Field(*it, 30, 1) != 0;
    const bool moves_stack = is_constant_add && target == kStackRegister;
    const auto pair = DecodePair(*it);
    const auto single = pair ? pair : DecodeSingle(*it);
    const bool pushes =
        single && single->memory.base == kStackRegister && single->index == Index::kBefore;
    const bool takes_room = (moves_stack && (subtracts || base != kStackRegister)) || pushes ||
                            (is_extended_add && target == kStackRegister);
    if (takes_room) use.frame.reset();
  }
  return use;
}

}  // namespace

bool OnlyReturnsCallResult(std::uint64_t function, std::uint64_t return_address,
                           const CodeReader& read) {
  const FrameUse use = ReadFrameUse(function, return_address, read);
  return !use.lends_frame && PointerWalk(read, use.frame).FollowFrom(return_address);
}

}  // namespace leakgate
