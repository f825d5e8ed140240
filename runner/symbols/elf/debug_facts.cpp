#include "runner/symbols/debug_facts.h"

#include <elfutils/libdwelf.h>
#include <elfutils/version.h>
#include <fmt/format.h>
#include <gelf.h>

#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/opened_module.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

bool HasUnwindTable(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return false;
    if (segment.p_type == PT_GNU_EH_FRAME) return true;
  }
  return false;
}

bool HasLines(const DebugInformation& information) {
  bool found = false;
  ForEachUnit(information, [&found](Dwarf_Die& unit, Dwarf_Die&) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    found = dwarf_getsrclines(&unit, &lines, &count) == 0 && count > 0;
    return !found;
  });
  return found;
}

std::string SeparateFile(Dwfl_Module* module) {
  const char* debug_file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &debug_file);
  return debug_file == nullptr ? "" : debug_file;
}

}  // namespace

CompiledFiles::CompiledFiles(const fs::path& program) {
  const OpenedModule opened =
      OpenWithElfutils(fs::absolute(program).string(), DebugSource::kAnyFile);
  if (opened.module == nullptr) return;
  const DebugInformation information = FindDebugInformation(opened.module);
  if (information.dwarf == nullptr) return;
  ForEachUnit(information, [this](Dwarf_Die unit, Dwarf_Die details) {
    const char* const name = TextOf(details, DW_AT_name);
    if (name == nullptr || fs::path(name).is_absolute()) return true;
    const std::string file = SourcePath(TextOf(unit, DW_AT_comp_dir), name);
    const auto [known, is_new] = by_name_.emplace(name, file);
    if (!is_new && known->second != file) known->second.clear();
    return true;
  });
}

std::optional<std::string> CompiledFiles::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || found->second.empty()) return std::nullopt;
  std::error_code unknown;
  if (!fs::exists(found->second, unknown)) return std::nullopt;
  return found->second;
}

DebugFacts ReadDebugFacts(const std::filesystem::path& file) {
  DebugFacts facts;
  const OpenedModule opened = OpenWithElfutils(file.string(), DebugSource::kAnyFile);
  if (opened.module == nullptr) return facts;
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(opened.module, &bias);
  if (elf == nullptr) return facts;
  facts.has_symbols = HasFullSymbolTable(elf);
  facts.has_unwind_table = HasUnwindTable(elf);
  GElf_Word checksum = 0;
  const char* const link = dwelf_elf_gnu_debuglink(elf, &checksum);
  if (link != nullptr) facts.debug_link = link;

  const DebugInformation information = FindDebugInformation(opened.module);
  if (information.dwarf == nullptr) return facts;
  facts.has_lines = HasLines(information);
  facts.separate_file = SeparateFile(opened.module);
  facts.has_symbols = facts.has_symbols || HasFullSymbolTable(dwarf_getelf(information.dwarf));
  return facts;
}

std::string DebugLibraryVersion() { return fmt::format("elfutils 0.{}", _ELFUTILS_VERSION); }

}  // namespace leakgate
