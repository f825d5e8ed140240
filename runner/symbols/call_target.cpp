#include "runner/symbols/call_target.h"

#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace leakgate {
namespace {

constexpr std::size_t kNearCallBytes = 5;      // e8 rel32
constexpr std::size_t kIndirectCallBytes = 6;  // ff 15 disp32
constexpr std::size_t kLoadBytes = 7;          // 48 8b modrm disp32
constexpr int kMostArguments = 6;

// Returns the address that an instruction, which ends at `end`, names by a 32-bit displacement.
std::uint64_t AddressFrom(std::uint64_t end, std::span<const std::uint8_t> displacement) {
  std::int32_t offset = 0;
  std::memcpy(&offset, displacement.data(), sizeof(offset));
  return end + static_cast<std::uint64_t>(std::int64_t{offset});
}

bool StartsWith(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> prefix) {
  return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

// Returns the name of the dynamic symbol `index`; `symbols` is the section .dynsym.
std::string SymbolName(Elf* elf, Elf_Scn* symbols, const GElf_Shdr& header, std::uint64_t index) {
  GElf_Sym symbol;
  Elf_Data* const contents = elf_getdata(symbols, nullptr);
  if (contents == nullptr || index > INT32_MAX) return {};
  if (gelf_getsym(contents, static_cast<int>(index), &symbol) == nullptr) return {};
  const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
  return name != nullptr ? name : "";
}

bool FillsFunctionSlot(const GElf_Rela& relocation) {
  const std::uint64_t type = GELF_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

}  // namespace

CallTargets::CallTargets(Elf* elf) {
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr || header.e_machine != EM_X86_64) return;
  ReadSegments(elf);
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    ReadRelocations(elf, section);
  }
}

void CallTargets::ReadSegments(Elf* elf) {
  std::size_t file_bytes = 0;
  const char* const file = elf_rawfile(elf, &file_bytes);
  std::size_t count = 0;
  if (file == nullptr || elf_getphdrnum(elf, &count) != 0) return;
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(index), &segment) == nullptr) continue;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (segment.p_offset >= file_bytes) continue;
    const std::size_t size = std::min<std::size_t>(segment.p_filesz, file_bytes - segment.p_offset);
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(file) + segment.p_offset;
    segments_.push_back({segment.p_vaddr, {begin, size}});
  }
}

void CallTargets::ReadRelocations(Elf* elf, Elf_Scn* section) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA) return;
  GElf_Shdr symbols_header;
  Elf_Scn* const symbols = elf_getscn(elf, header.sh_link);
  if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) return;
  Elf_Data* const contents = elf_getdata(section, nullptr);
  if (symbols_header.sh_type != SHT_DYNSYM || contents == nullptr) return;

  GElf_Rela relocation;
  for (int index = 0; gelf_getrela(contents, index, &relocation) != nullptr; ++index) {
    if (!FillsFunctionSlot(relocation)) continue;
    const std::uint64_t symbol = GELF_R_SYM(relocation.r_info);
    name_of_slot_.emplace(relocation.r_offset, SymbolName(elf, symbols, symbols_header, symbol));
  }
}

CallTargets::Bytes CallTargets::Read(std::uint64_t address, std::size_t size) const {
  for (const Segment& segment : segments_) {
    const std::uint64_t offset = address - segment.begin;
    if (address < segment.begin || offset > segment.bytes.size()) continue;
    if (segment.bytes.size() - offset >= size) return segment.bytes.subspan(offset, size);
  }
  return {};
}

std::string CallTargets::NameOfSlot(std::uint64_t slot) const {
  const auto name = name_of_slot_.find(slot);
  return name != name_of_slot_.end() ? name->second : std::string();
}

// Returns where a forwarding function jumps: past the instructions that set up arguments, as in
// libc_nonshared.a's atexit.
std::uint64_t CallTargets::SkipArguments(std::uint64_t address) const {
  static constexpr std::array<std::uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  for (int count = 0; count < kMostArguments; ++count) {
    const Bytes code = Read(address, kLoadBytes);
    if (code.empty()) break;
    const bool is_move = code[0] == 0x48 && (code[1] == 0x8b || code[1] == 0x8d);
    const bool is_clear = code[0] == 0x31 && code[1] >= 0xc0;
    if (StartsWith(code, kEndbr64)) {
      address += kEndbr64.size();
    } else if (is_move && (code[2] & 0xc7) == 0x05) {  // mov or lea disp32(%rip), register
      address += kLoadBytes;
    } else if (is_clear) {  // xor register, register
      address += 2;
    } else {
      break;
    }
  }
  return address;
}

std::string CallTargets::NameOfStub(std::uint64_t stub) const {
  static constexpr std::array<std::uint8_t, 1> kBnd = {0xf2};
  static constexpr std::array<std::uint8_t, 1> kJump = {0xe9};
  static constexpr std::array<std::uint8_t, 2> kSlotJump = {0xff, 0x25};
  for (int jumps = 0; jumps < 2; ++jumps) {  // a forwarding function, then its stub
    stub = SkipArguments(stub);
    if (StartsWith(Read(stub, kBnd.size()), kBnd)) stub += kBnd.size();
    const Bytes slot_jump = Read(stub, kIndirectCallBytes);
    if (StartsWith(slot_jump, kSlotJump)) {
      return NameOfSlot(
          AddressFrom(stub + kIndirectCallBytes, slot_jump.subspan(kSlotJump.size())));
    }
    const Bytes jump = Read(stub, kNearCallBytes);
    if (!StartsWith(jump, kJump)) return {};
    stub = AddressFrom(stub + kNearCallBytes, jump.subspan(kJump.size()));
  }
  return {};
}

// Knows call *register, call *(register) and call *disp(register), with or without SIB and REX
// (ff /2). Only the end of the instruction is known, so each length is tried.
bool CallTargets::EndsInPointerCall(std::uint64_t return_address) const {
  struct Form {
    std::size_t bytes;
    std::uint8_t modes;  // bit n is set if instructions with ModRM.mod n have this length
    bool has_sib;
  };
  static constexpr std::array<Form, 6> kForms = {{{2, 0b1001, false},
                                                  {3, 0b0001, true},
                                                  {3, 0b0010, false},
                                                  {4, 0b0010, true},
                                                  {6, 0b0100, false},
                                                  {7, 0b0100, true}}};
  return std::any_of(kForms.begin(), kForms.end(), [&](const Form& form) {
    const Bytes call = Read(return_address - form.bytes, form.bytes);
    if (call.empty() || call[0] != 0xff || ((call[1] >> 3) & 7) != 2) return false;
    const int mode = call[1] >> 6;
    const bool has_sib = mode != 3 && (call[1] & 7) == 4;
    return ((form.modes >> mode) & 1) != 0 && has_sib == form.has_sib;
  });
}

CallTarget CallTargets::CalledAt(std::uint64_t return_address) const {
  static constexpr std::array<std::uint8_t, 1> kNearCall = {0xe8};
  static constexpr std::array<std::uint8_t, 2> kIndirectCall = {0xff, 0x15};
  const Bytes indirect = Read(return_address - kIndirectCallBytes, kIndirectCallBytes);
  if (StartsWith(indirect, kIndirectCall)) {
    const std::string name =
        NameOfSlot(AddressFrom(return_address, indirect.subspan(kIndirectCall.size())));
    if (!name.empty()) return {name, false};
  }
  const Bytes near_call = Read(return_address - kNearCallBytes, kNearCallBytes);
  if (StartsWith(near_call, kNearCall)) {
    const std::uint64_t target = AddressFrom(return_address, near_call.subspan(kNearCall.size()));
    if (!Read(target, 1).empty()) return {NameOfStub(target), false};
  }
  return {"", StartsWith(indirect, kIndirectCall) || EndsInPointerCall(return_address)};
}

}  // namespace leakgate
