#include "runner/arch/processor.h"

#include <elf.h>

#include <array>

#include "runner/arch/aarch64/instructions.h"

namespace leakgate {
namespace {

constexpr int kMostArguments = 6;
constexpr std::uint32_t kReturn = 0xD65F'03C0;
constexpr unsigned kStubRegister = 16;  // a stub loads x17 by way of x16

constexpr unsigned Destination(std::uint32_t instruction) { return Field(instruction, 0, 5); }
constexpr unsigned Base(std::uint32_t instruction) { return Field(instruction, 5, 5); }

// Decodes blr, and its forms that check a signature first. Returns the register.
std::optional<unsigned> CalledRegister(std::uint32_t instruction) {
  const bool is_plain = (instruction & 0xFFFF'FC1F) == 0xD63F'0000;
  const bool checks_zero = (instruction & 0xFFFF'F81F) == 0xD63F'081F;   // blraaz, blrabz
  const bool checks_value = (instruction & 0xFFFF'F800) == 0xD73F'0800;  // blraa, blrab
  if (!is_plain && !checks_zero && !checks_value) return std::nullopt;
  return Base(instruction);
}

// Code that is compiled with -fno-plt loads the address of the function shortly before the call:
//
//   adrp x1, page; ...; ldr x1, [x1, #offset]; ...; blr x1
//
// Looks for the instruction that `find` knows and that sets `target`. A jump, or another
// instruction in between that may set it, ends the search.
struct SettingInstruction {
  std::uint32_t instruction;
  std::uint64_t address;
};
template <typename Find>
std::optional<SettingInstruction> FindSetting(std::uint64_t end, unsigned target, const Find& find,
                                              const CodeReader& read) {
  constexpr int kFarthest = 6;
  for (int i = 1; i <= kFarthest; ++i) {
    const std::uint64_t address = end - static_cast<std::uint64_t>(i) * kInstructionBytes;
    const auto instruction = ReadInstruction(address, read);
    if (!instruction) return std::nullopt;
    const bool is_jump_or_other = (Field(*instruction, 25, 4) & 0b1110) == 0b1010;
    if (is_jump_or_other) return std::nullopt;
    const bool is_pair = (*instruction & 0x3A00'0000) == 0x2800'0000;
    if (is_pair && Field(*instruction, 10, 5) == target) return std::nullopt;
    if (Destination(*instruction) != target) continue;
    if (!find(*instruction, address)) return std::nullopt;
    return SettingInstruction{*instruction, address};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> FindLoadedSlot(std::uint64_t call, unsigned target,
                                            const CodeReader& read) {
  const auto is_load = [](std::uint32_t instruction, std::uint64_t) {
    return LoadOffset(instruction).has_value();
  };
  const auto is_page = [](std::uint32_t instruction, std::uint64_t address) {
    return PageOf(instruction, address).has_value();
  };
  const auto load = FindSetting(call, target, is_load, read);
  if (!load) return std::nullopt;
  const auto page = FindSetting(load->address, Base(load->instruction), is_page, read);
  if (!page) return std::nullopt;
  return *PageOf(page->instruction, page->address) + *LoadOffset(load->instruction);
}

// Decodes adrp x16; ldr x17, [x16, #offset]; add x16, ...; br x17. Where return addresses are
// signed, autia1716 stands in front of the br.
std::optional<std::uint64_t> SlotOfStubAt(std::uint64_t stub, const CodeReader& read) {
  constexpr std::uint32_t kJump = 0xD61F'0220;   // br x17
  constexpr std::uint32_t kCheck = 0xD503'219F;  // autia1716
  const auto page = ReadInstruction(stub, read);
  const auto load = ReadInstruction(stub + kInstructionBytes, read);
  if (!page || !load || !PageOf(*page, stub) || !LoadOffset(*load)) return std::nullopt;
  if (Destination(*page) != kStubRegister || Base(*load) != kStubRegister) return std::nullopt;
  if (Destination(*load) != kStubRegister + 1) return std::nullopt;
  std::uint64_t at = stub + 2 * kInstructionBytes;
  for (int i = 0; i < 3; ++i, at += kInstructionBytes) {
    const auto instruction = ReadInstruction(at, read);
    if (!instruction) break;
    if (*instruction == kJump) return *PageOf(*page, stub) + *LoadOffset(*load);
    const bool is_add = AddedConstant(*instruction) && Destination(*instruction) == kStubRegister;
    if (!is_add && *instruction != kCheck) break;
  }
  return std::nullopt;
}

// Decodes adrp x16; add x16, x16, #offset; br x16: the linker's code for a jump that is too far for
// one instruction.
std::optional<std::uint64_t> TargetOfVeneer(std::uint64_t stub, const CodeReader& read) {
  constexpr std::uint32_t kJump = 0xD61F'0200;  // br x16
  const auto page = ReadInstruction(stub, read);
  const auto add = ReadInstruction(stub + kInstructionBytes, read);
  const auto jump = ReadInstruction(stub + 2 * kInstructionBytes, read);
  if (!page || !add || jump != kJump || !PageOf(*page, stub)) return std::nullopt;
  const bool is_x16 = Destination(*page) == kStubRegister && Base(*add) == kStubRegister &&
                      Destination(*add) == kStubRegister;
  if (!is_x16 || !AddedConstant(*add)) return std::nullopt;
  return *PageOf(*page, stub) + *AddedConstant(*add);
}

// Returns where a forwarding function's jump is: behind the instructions that set up its arguments,
// as in libc_nonshared.a's atexit.
std::uint64_t SkipArguments(std::uint64_t address, const CodeReader& read) {
  constexpr unsigned kArgumentRegisters = 8;
  for (int count = 0; count < kMostArguments; ++count, address += kInstructionBytes) {
    const auto code = ReadInstruction(address, read);
    if (!code) break;
    const bool is_constant = (*code & 0x7F80'0000) == 0x5280'0000;  // mov of 16 bits
    const bool is_address = PageOf(*code, address) || LoadOffset(*code) || AddedConstant(*code);
    const bool sets_argument =
        (is_constant || is_address) && Destination(*code) < kArgumentRegisters;
    if (!sets_argument && !IsHarmlessHint(*code)) break;
  }
  return address;
}

}  // namespace

std::string_view ProcessorName() { return "AArch64"; }

bool IsOfThisProcessor(std::uint16_t machine, std::uint8_t file_class) {
  return machine == EM_AARCH64 && file_class == ELFCLASS64;
}

bool FillsFunctionSlot(std::uint32_t type) {
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

std::span<const std::uint8_t> RestorerCode() {
  // mov x8, #139; svc #0
  static constexpr std::uint8_t kCode[] = {0x68, 0x11, 0x80, 0xD2, 0x01, 0, 0, 0xD4};
  return kCode;
}

bool IsRestorerOfKernel() { return true; }

//   adrp x0, page; ldr x0, [x0, #offset]; mrs x1, tpidr_el0; add x0, x1, x0; ret     in some order
std::optional<std::uint64_t> FindErrnoOffset(std::span<const std::uint8_t> code,
                                             std::uint64_t address) {
  struct Value {
    std::optional<std::uint64_t> page;
    std::optional<std::uint64_t> slot;  // it was loaded from there
    bool is_thread_pointer = false;
  };
  std::array<Value, kZeroRegister + 1> values;
  std::optional<std::uint64_t> found;
  for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    std::uint32_t instruction = 0;
    std::memcpy(&instruction, &code[at], sizeof(instruction));
    if (instruction == kReturn) return found;
    if (IsHarmlessHint(instruction)) continue;
    const Value base = values[Base(instruction)];
    const Value other = values[Field(instruction, 16, 5)];
    Value& value = values[Destination(instruction)];
    value = {};
    if (const auto page = PageOf(instruction, address + at)) {
      value.page = *page;
    } else if (const auto offset = LoadOffset(instruction); offset && base.page) {
      value.slot = *base.page + *offset;
    } else if ((instruction & 0xFFFF'FFE0) == 0xD53B'D040) {  // mrs of tpidr_el0
      value.is_thread_pointer = true;
    } else if ((instruction & 0xFFE0'FC1F) == 0x8B00'0000) {  // add x0, register, register
      found = base.is_thread_pointer ? other.slot : base.slot;
      if (!base.is_thread_pointer && !other.is_thread_pointer) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string_view DynamicLinkerName() { return "ld-linux-aarch64"; }

// The kernel reports a guarded control stack only through ptrace (held_call.h).
ShadowStack KnownShadowStack() { return {}; }

CallCode ReadCall(std::uint64_t return_address, const CodeReader& read) {
  CallCode code;
  const std::uint64_t call = return_address - kInstructionBytes;
  const auto instruction = ReadInstruction(call, read);
  if (!instruction) return code;
  code.function = CallTarget(*instruction, call);
  if (const std::optional<unsigned> target = CalledRegister(*instruction)) {
    code.slot = FindLoadedSlot(call, *target, read);
    code.is_through_pointer = true;
  }
  return code;
}

std::optional<std::uint64_t> FindSlotOfStub(std::uint64_t stub, const CodeReader& read) {
  for (int jumps = 0; jumps < 3; ++jumps) {  // a forwarding function, then its stub
    stub = SkipArguments(stub, read);
    if (const auto slot = SlotOfStubAt(stub, read)) return slot;
    const auto instruction = ReadInstruction(stub, read);
    if (!instruction) break;
    auto target = JumpTarget(*instruction, stub);
    if (!target) target = TargetOfVeneer(stub, read);
    if (!target) break;
    stub = *target;
  }
  return std::nullopt;
}

}  // namespace leakgate
