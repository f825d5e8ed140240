// Follows the pointer through registers and the function's own frame, along all ways to a return.
// Only the instructions that compilers write in such functions are known.
#include "runner/arch/return_value.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

namespace leakgate {
namespace {

constexpr int kMostSteps = 256;  // on all paths together
constexpr std::size_t kLongest = 15;
enum Register : int { kRax = 0, kRsp = 4, kRbp = 5 };

struct Memory {
  int base = -1;  // -1: none, as of a global
  bool has_index = false;
  std::int32_t displacement = 0;
};

struct Instruction {
  int opcode = 0;  // 0x0Fxx for two bytes
  bool is_wide = false;
  bool is_vector = false;  // a prefix makes it another instruction on some opcodes
  bool has_rex = false;
  int reg = 0;  // or the opcode's extension
  std::optional<int> register_operand;
  std::optional<Memory> memory;
  std::int64_t immediate = 0;
  std::size_t size = 0;
};

// Returns an instruction's bytes one by one; past the end of the code, it returns nothing.
class InstructionBytes {
 public:
  InstructionBytes(std::uint64_t address, const CodeReader& read) {
    for (std::size_t size = kLongest; size != 0 && bytes_.empty(); --size) {
      bytes_ = read(address, size);
    }
  }
  [[nodiscard]] int Next() {
    if (at_ >= bytes_.size()) return is_cut_ = true, 0;
    return bytes_[at_++];
  }
  [[nodiscard]] std::int64_t Signed(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(Next()) << (8 * i);
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  [[nodiscard]] std::size_t size() const { return at_; }
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool is_cut_ = false;
};

bool HasModRm(int opcode) {
  switch (opcode) {
    case 0x01:
    case 0x03:
    case 0x09:
    case 0x0B:
    case 0x21:
    case 0x23:
    case 0x29:
    case 0x2B:
    case 0x31:
    case 0x33:
    case 0x39:
    case 0x3B:
    case 0x63:
    case 0x80:
    case 0x81:
    case 0x83:
    case 0x84:
    case 0x85:
    case 0x88:
    case 0x89:
    case 0x8A:
    case 0x8B:
    case 0x8D:
    case 0xC6:
    case 0xC7:
    case 0x0F1F:
    case 0x0FB6:
    case 0x0FB7:
    case 0x0FBE:
    case 0x0FBF:
    case 0xFF:
      return true;
    default:
      return false;
  }
}

int ImmediateBytes(const Instruction& instruction) {
  const int opcode = instruction.opcode;
  if (opcode == 0x83 || opcode == 0x80 || opcode == 0xC6) return 1;
  if (opcode == 0x81 || opcode == 0xC7) return 4;
  if (opcode >= 0xB8 && opcode <= 0xBF) return instruction.is_wide ? 8 : 4;
  if (opcode == 0xEB || (opcode >= 0x70 && opcode <= 0x7F)) return 1;
  if (opcode == 0xE9 || (opcode >= 0x0F80 && opcode <= 0x0F8F)) return 4;
  return 0;
}

void ReadOperands(InstructionBytes& bytes, int rex, Instruction& instruction) {
  const int modrm = bytes.Next();
  const int mode = modrm >> 6;
  instruction.reg = ((modrm >> 3) & 7) | ((rex & 4) << 1);
  const int low = modrm & 7;
  if (mode == 3) {
    instruction.register_operand = low | ((rex & 1) << 3);
    return;
  }
  Memory memory;
  memory.base = low | ((rex & 1) << 3);
  if (low == 4) {
    const int sib = bytes.Next();
    memory.base = (sib & 7) | ((rex & 1) << 3);
    memory.has_index = (((sib >> 3) & 7) | ((rex & 2) << 2)) != 4;
    if ((sib & 7) == 5 && mode == 0) memory.base = -1;
  } else if (low == 5 && mode == 0) {
    memory.base = -1;  // relative to the instruction
  }
  if (mode == 1) memory.displacement = static_cast<std::int32_t>(bytes.Signed(1));
  if (mode == 2 || memory.base == -1) {
    memory.displacement = static_cast<std::int32_t>(bytes.Signed(4));
  }
  instruction.memory = memory;
}

std::optional<Instruction> Decode(std::uint64_t address, const CodeReader& read) {
  InstructionBytes bytes(address, read);
  Instruction instruction;
  int byte = bytes.Next();
  bool is_endbr = false;
  for (; byte == 0x66 || byte == 0xF2 || byte == 0xF3; byte = bytes.Next()) {
    instruction.is_vector = instruction.is_vector || byte == 0x66;
    is_endbr = byte == 0xF3;
  }
  int rex = 0;
  if ((byte & 0xF0) == 0x40) {
    rex = byte;
    instruction.has_rex = true;
    byte = bytes.Next();
  }
  instruction.is_wide = (rex & 8) != 0;
  instruction.opcode = byte == 0x0F ? 0x0F00 | bytes.Next() : byte;
  if (is_endbr && instruction.opcode == 0x0F1E) {
    (void)bytes.Next();
    instruction.opcode = 0x90;
  } else if (HasModRm(instruction.opcode)) {
    ReadOperands(bytes, rex, instruction);
  } else if (const int group = instruction.opcode & 0xF8;
             group == 0x50 || group == 0x58 || group == 0xB8) {
    instruction.register_operand = (instruction.opcode & 7) | ((rex & 1) << 3);
  }
  // A 16-bit immediate would make the instruction shorter.
  const int immediate = ImmediateBytes(instruction);
  if (immediate == 4 && instruction.is_vector) return std::nullopt;
  if (immediate != 0) instruction.immediate = bytes.Signed(immediate);
  if (bytes.is_cut()) return std::nullopt;
  instruction.size = bytes.size();
  return instruction;
}

// Where the pointer is at one point of the code.
struct Places {
  unsigned registers = 1U << kRax;
  std::set<std::pair<int, std::int64_t>> slots;  // of the frame, by base register and offset
  std::int64_t stack_moved = 0;                  // of rsp since the call returned
  bool is_just_tested = false;                   // for null, by the last instruction

  [[nodiscard]] bool Has(int reg) const { return ((registers >> reg) & 1) != 0; }
  void Set(int reg, bool has) {
    registers = has ? registers | (1U << reg) : registers & ~(1U << reg);
  }
};

class PointerWalk {
 public:
  PointerWalk(const CodeReader& read, bool has_frame_pointer)
      : read_(read), has_frame_pointer_(has_frame_pointer) {}

  // Returns whether all ways from `address` return the pointer and do nothing else with it.
  bool Follow(std::uint64_t address, Places places) {
    while (++steps_ <= kMostSteps) {
      const std::optional<Instruction> instruction = Decode(address, read_);
      if (!instruction) return false;
      const bool was_tested = places.is_just_tested;
      places.is_just_tested = false;
      address += instruction->size;
      const int opcode = instruction->opcode;
      const auto target = address + static_cast<std::uint64_t>(instruction->immediate);
      if (opcode == 0xC3) return places.Has(kRax);
      if (opcode == 0xEB || opcode == 0xE9) {
        address = target;
      } else if (const int condition = ConditionOf(opcode); condition >= 0) {
        constexpr int kEqual = 4;
        constexpr int kNotEqual = 5;
        if (was_tested && condition == kNotEqual) {
          address = target;
        } else if (!(was_tested && condition == kEqual)) {
          if (!Follow(target, places)) return false;
        }
      } else if (!Execute(*instruction, places)) {
        return false;
      }
    }
    return false;
  }

 private:
  static int ConditionOf(int opcode) {
    if (opcode >= 0x70 && opcode <= 0x7F) return opcode & 15;
    return opcode >= 0x0F80 && opcode <= 0x0F8F ? opcode & 15 : -1;
  }

  // Returns the slot of the frame that is meant; nothing for other memory. rbp may be any pointer
  // in a function that does not begin by making it the frame's.
  [[nodiscard]] std::optional<std::pair<int, std::int64_t>> SlotOf(const Memory& memory,
                                                                   const Places& places) const {
    const bool is_of_frame = memory.base == kRsp || (has_frame_pointer_ && memory.base == kRbp);
    if (memory.has_index || !is_of_frame) return std::nullopt;
    const std::int64_t moved = memory.base == kRsp ? places.stack_moved : 0;
    return std::pair(memory.base, memory.displacement + moved);
  }

  // Returns whether the store is harmless.
  bool Store(const Memory& memory, bool is_pointer, Places& places) const {
    const auto slot = SlotOf(memory, places);
    if (!slot) return !is_pointer;
    if (is_pointer) {
      places.slots.insert(*slot);
    } else {
      places.slots.erase(*slot);
    }
    return true;
  }

  [[nodiscard]] bool IsPointerIn(const Instruction& instruction, const Places& places) const {
    if (instruction.register_operand) return places.Has(*instruction.register_operand);
    const auto slot = SlotOf(*instruction.memory, places);
    return slot && places.slots.contains(*slot);
  }

  // Returns false if the instruction is not known, or does something else with the pointer.
  bool Execute(const Instruction& it, Places& places) const {
    const auto set_operand = [&](bool has) {
      if (it.register_operand) places.Set(*it.register_operand, has);
      return it.register_operand || Store(*it.memory, has, places);
    };
    switch (it.opcode) {
      case 0x90:
      case 0x0F1F:  // nop
        return true;
      case 0x89:  // mov to the operand
        if (!it.is_wide) return !places.Has(it.reg) && set_operand(false);
        return set_operand(places.Has(it.reg));
      case 0x8B:  // mov to the register
        places.Set(it.reg, it.is_wide && IsPointerIn(it, places));
        return true;
      case 0x88:  // mov of a byte
        return set_operand(false);
      case 0xC6:
      case 0xC7:  // mov of a constant
        return it.reg % 8 == 0 && set_operand(false);
      case 0x8A:
      case 0x63:
      case 0x0FB6:
      case 0x0FB7:
      case 0x0FBE:
      case 0x0FBF:
        places.Set(it.reg, false);
        if (it.opcode == 0x8A && !it.has_rex) places.Set(it.reg & 3, false);
        return true;
      case 0x8D:  // lea: an address of the frame may lead to what is kept there
        if (it.memory && SlotOf(*it.memory, places)) return false;
        places.Set(it.reg, false);
        return it.memory.has_value();
      case 0x85:
      case 0x84:  // test
        places.is_just_tested = it.opcode == 0x85 && it.is_wide && it.register_operand &&
                                *it.register_operand == it.reg && places.Has(it.reg);
        return true;
      case 0x39:
      case 0x3B:  // cmp
        return true;
      case 0x01:
      case 0x09:
      case 0x21:
      case 0x29:
      case 0x31:  // arithmetic on the operand
        return !places.Has(it.reg) && set_operand(false);
      case 0x03:
      case 0x0B:
      case 0x23:
      case 0x2B:
      case 0x33:
        places.Set(it.reg, false);
        return true;
      case 0x80:
      case 0x81:
      case 0x83:
        return ArithmeticWithConstant(it, places);
      case 0xFF:  // inc and dec; the others call, jump and push
        return it.reg % 8 < 2 && set_operand(false);
      case 0xC9:                       // leave
        places.stack_moved = 1 << 20;  // no slot of rsp's is known any more
        places.Set(kRbp, false);
        return true;
      default:
        return PushPopOrLoad(it, places);
    }
  }

  bool ArithmeticWithConstant(const Instruction& it, Places& places) const {
    constexpr int kAdd = 0;
    constexpr int kSubtract = 5;
    constexpr int kCompare = 7;
    const int operation = it.reg % 8;
    if (operation == kCompare) {
      places.is_just_tested =
          it.opcode == 0x83 && it.is_wide && it.immediate == 0 && IsPointerIn(it, places);
      return true;
    }
    if (it.register_operand == kRsp) {
      if (operation != kAdd && operation != kSubtract) return false;
      places.stack_moved += operation == kAdd ? it.immediate : -it.immediate;
      return true;
    }
    if (it.register_operand) {
      places.Set(*it.register_operand, false);
      return true;
    }
    return Store(*it.memory, false, places);
  }

  bool PushPopOrLoad(const Instruction& it, Places& places) const {
    constexpr std::int64_t kWord = 8;
    const int group = it.opcode & 0xF8;
    if (it.opcode > 0xFF || !it.register_operand) return false;
    const int reg = *it.register_operand;
    if (group == 0x58) {  // pop
      places.Set(reg, places.slots.contains({kRsp, places.stack_moved}));
      places.stack_moved += kWord;
      return true;
    }
    if (group == 0x50) {  // push
      places.stack_moved -= kWord;
      return Store({.base = kRsp, .has_index = false, .displacement = 0}, places.Has(reg), places);
    }
    places.Set(reg, false);
    return group == 0xB8;  // mov of a constant
  }

  const CodeReader& read_;
  const bool has_frame_pointer_;
  int steps_ = 0;
};

// Matches push %rbp; mov %rsp, %rbp, perhaps after an endbr64.
bool BeginsWithFramePointer(std::uint64_t function, const CodeReader& read) {
  static constexpr std::array<std::uint8_t, 4> kEndbr64 = {0xF3, 0x0F, 0x1E, 0xFA};
  static constexpr std::array<std::uint8_t, 4> kPrologue = {0x55, 0x48, 0x89, 0xE5};
  const auto has = [&](std::uint64_t address, const std::array<std::uint8_t, 4>& bytes) {
    const auto code = read(address, bytes.size());
    return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
  };
  return has(function, kPrologue) ||
         (has(function, kEndbr64) && has(function + kEndbr64.size(), kPrologue));
}

}  // namespace

bool OnlyReturnsCallResult(std::uint64_t function, std::uint64_t return_address,
                           const CodeReader& read) {
  return PointerWalk(read, BeginsWithFramePointer(function, read)).Follow(return_address, {});
}

}  // namespace leakgate
