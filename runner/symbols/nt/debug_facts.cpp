#include "runner/symbols/debug_facts.h"

#include <system_error>

#include "runner/base/path_text.h"
#include "runner/symbols/name_text.h"
#include "runner/symbols/nt/opened_pe.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<OpenedPe> OpenProgram(const fs::path& file) {
  std::error_code unknown;
  const fs::path path = fs::absolute(file, unknown);
  return unknown ? nullptr : OpenedPe::Open(PathText(path), DebugSource::kAnyFile);
}

}  // namespace

CompiledFiles::CompiledFiles(const fs::path& program) {
  const std::unique_ptr<OpenedPe> opened = OpenProgram(program);
  if (opened == nullptr || opened->dwarf() == nullptr) return;  // a PDB has absolute names
  opened->dwarf()->ForEachUnit([this](const std::string& name, const std::string& directory) {
    if (name.empty() || PathOf(name).has_root_directory()) return;
    const std::string file = SourcePath(directory.c_str(), name.c_str());
    const auto [known, is_new] = by_name_.emplace(name, file);
    if (!is_new && known->second != file) known->second.clear();
  });
}

std::optional<std::string> CompiledFiles::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || found->second.empty()) return std::nullopt;
  std::error_code unknown;
  if (!fs::exists(PathOf(found->second), unknown)) return std::nullopt;
  return found->second;
}

DebugFacts ReadDebugFacts(const fs::path& file) {
  DebugFacts facts;
  const std::unique_ptr<OpenedPe> opened = OpenProgram(file);
  if (opened == nullptr) return facts;
  facts.has_symbols = opened->file().HasSymbolTable() || opened->pdb() != nullptr;
  facts.has_unwind_table = !opened->file().Contents(".pdata").empty();
  facts.has_lines =
      opened->pdb() != nullptr || (opened->dwarf() != nullptr && opened->dwarf()->HasLines());
  if (opened->pdb() != nullptr) facts.separate_file = opened->pdb()->file();
  return facts;
}

std::string DebugLibraryVersion() { return DwarfLibraryVersion() + ", " + PdbLibraryVersion(); }

}  // namespace leakgate
