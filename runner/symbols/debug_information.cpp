#include "runner/symbols/debug_information.h"

#include <elfutils/libdwelf.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "runner/base/regular_file.h"
#include "runner/symbols/elf_file.h"
#include "runner/symbols/symbol_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

fs::path DirectoryOf(const char* file) {
  std::error_code unknown;
  return fs::canonical(file, unknown).parent_path();
}

// libdw opens the file into which dwz has put the parts that several files share.
bool MayReadSharedParts(const DebugInformation& information) {
  const char* name = nullptr;
  const void* id = nullptr;
  const std::ptrdiff_t count = dwelf_dwarf_gnu_debugaltlink(information.dwarf, &name, &id);
  if (count <= 0) return true;
  const std::string build_id = HexText(static_cast<const unsigned char*>(id), count);
  return MayLookUpBuildId(build_id) &&
         std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) { return IsRegularOrMissing(it / name); });
}

}  // namespace

DebugInformation FindDebugInformation(Dwfl_Module* module) {
  DebugInformation information;
  information.dwarf = dwfl_module_getdwarf(module, &information.bias);
  if (information.dwarf == nullptr) return information;
  const char* files[2] = {};
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &files[0], &files[1]);
  bool may_read = true;
  for (const char* const file : files) {
    if (file == nullptr) continue;
    information.directories.push_back(DirectoryOf(file));
    // Later versions of elfutils look for a package of all split halves there.
    may_read = may_read && IsRegularOrMissing(std::string(file) + ".dwp");
  }
  if (!may_read || !MayReadSharedParts(information)) information.dwarf = nullptr;
  return information;
}

const char* TextOf(Dwarf_Die entry, unsigned attribute) {
  Dwarf_Attribute value;
  return dwarf_formstring(dwarf_attr(&entry, attribute, &value));
}

bool MayReadSplitHalf(const DebugInformation& information, Dwarf_Die unit) {
  const char* name = TextOf(unit, DW_AT_dwo_name);
  if (name == nullptr) name = TextOf(unit, DW_AT_GNU_dwo_name);
  if (name == nullptr) return true;
  const char* const compiled_in = TextOf(unit, DW_AT_comp_dir);
  return std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) {
                       const fs::path other = compiled_in == nullptr ? it : it / compiled_in;
                       return IsRegularOrMissing(it / name) && IsRegularOrMissing(other / name);
                     });
}

}  // namespace leakgate
