#include "runner/symbols/compiled_files.h"

#include <dwarf.h>

#include "runner/symbols/debug_units.h"
#include "runner/symbols/module_file.h"
#include "runner/symbols/source_path.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

const char* Text(Dwarf_Die& unit, unsigned attribute) {
  Dwarf_Attribute value;
  return dwarf_formstring(dwarf_attr(&unit, attribute, &value));
}

}  // namespace

CompiledFiles::CompiledFiles(const fs::path& program) {
  const OpenedModule opened = OpenDwfl(fs::absolute(program).string(), DebugSource::kAnyFile);
  if (opened.module == nullptr) return;
  const DebugInformation information = DebugInformationOf(opened.module);
  if (information.dwarf == nullptr) return;
  ForEachUnit(information, [this](Dwarf_Die unit, Dwarf_Die details) {
    const char* const name = Text(details, DW_AT_name);
    if (name == nullptr || fs::path(name).is_absolute()) return true;
    const std::string file = SourcePath(Text(unit, DW_AT_comp_dir), name);
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

}  // namespace leakgate
