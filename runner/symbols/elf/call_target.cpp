#include "runner/symbols/elf/call_target.h"

#include <gelf.h>

#include <algorithm>

#include "runner/arch/processor.h"
#include "runner/arch/return_value.h"

namespace leakgate {
namespace {

// Returns the name of the dynamic symbol `index`; `symbols` is the section .dynsym.
std::string SymbolName(Elf* elf, Elf_Scn* symbols, const GElf_Shdr& header, std::uint64_t index) {
  GElf_Sym symbol;
  Elf_Data* const contents = elf_getdata(symbols, nullptr);
  if (contents == nullptr || index > INT32_MAX) return {};
  if (gelf_getsym(contents, static_cast<int>(index), &symbol) == nullptr) return {};
  const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
  return name != nullptr ? name : "";
}

}  // namespace

CallTargets::CallTargets(Elf* elf) {
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr) return;
  if (!IsOfThisProcessor(header.e_machine, header.e_ident[EI_CLASS])) return;
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
    if (!FillsFunctionSlot(static_cast<std::uint32_t>(GELF_R_TYPE(relocation.r_info)))) continue;
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

bool CallTargets::IsOnlyReturned(std::uint64_t function, std::uint64_t return_address) const {
  return OnlyReturnsCallResult(
      function, return_address,
      [this](std::uint64_t address, std::size_t size) { return Read(address, size); });
}

CallTarget CallTargets::CalledAt(std::uint64_t return_address) const {
  const CodeReader read = [this](std::uint64_t address, std::size_t size) {
    return Read(address, size);
  };
  const CallCode call = ReadCall(return_address, read);
  if (call.slot) {
    const std::string name = NameOfSlot(*call.slot);
    if (!name.empty()) return {name, false};
  }
  if (call.function && !Read(*call.function, 1).empty()) {
    const std::optional<std::uint64_t> slot = FindSlotOfStub(*call.function, read);
    return {slot ? NameOfSlot(*slot) : std::string(), false};
  }
  return {"", call.is_through_pointer};
}

}  // namespace leakgate
