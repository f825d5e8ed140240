#include "runner/symbols/elf/opened_module.h"

#include <cstring>
#include <string>
#include <utility>

#include "runner/base/regular_file.h"
#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/elf/symbol_files.h"
#include "runner/symbols/plain_sections.h"

namespace leakgate {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = FindSeparateFile,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

int FindNoDebugFile(Dwfl_Module*, void**, const char*, GElf_Addr, const char*, const char*,
                    GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks kOwnFileCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = FindNoDebugFile,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

// `userdata` points to the path of the debug file.
int OpenKnownDebugFile(Dwfl_Module*, void** userdata, const char*, GElf_Addr, const char*,
                       const char*, GElf_Word, char** name) {
  const std::string& path = *static_cast<const std::string*>(*userdata);
  auto file = OpenRegularFile(path);
  if (!file) return -1;
  *name = strdup(path.c_str());
  return WithPlainSections(*std::move(file)).Release();
}

const Dwfl_Callbacks kKnownDebugFileCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = OpenKnownDebugFile,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

// Adds the file to `dwfl`, with its addresses unchanged. Returns null if it is no ELF file.
Dwfl_Module* AddModule(Dwfl* dwfl, const std::string& path) {
  if (path.empty() || path.front() != '/') return nullptr;  // "[vdso]"
  auto opened = OpenRegularFile(path);
  if (!opened) return nullptr;
  UniqueFd file = WithPlainSections(*std::move(opened));
  dwfl_report_begin(dwfl);
  Dwfl_Module* const module =
      dwfl_report_elf(dwfl, path.c_str(), path.c_str(), file.get(), 0, true);
  if (module != nullptr) (void)file.Release();  // elfutils owns it now
  dwfl_report_end(dwfl, nullptr, nullptr);
  return module;
}

}  // namespace

OpenedModule OpenWithElfutils(const std::string& path, DebugSource source,
                              const std::string& debug_path) {
  const Dwfl_Callbacks* callbacks =
      source == DebugSource::kAnyFile ? &kCallbacks : &kOwnFileCallbacks;
  if (!debug_path.empty()) callbacks = &kKnownDebugFileCallbacks;
  OpenedModule opened;
  opened.debug_path = std::make_unique<std::string>(debug_path);
  opened.dwfl.reset(dwfl_begin(callbacks));
  if (opened.dwfl) opened.module = AddModule(opened.dwfl.get(), path);
  if (opened.module == nullptr) return opened;
  void** userdata = nullptr;
  dwfl_module_info(opened.module, &userdata, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *userdata = opened.debug_path.get();
  return opened;
}

bool HasItsOwnDebugInformation(Dwfl_Module* module) {
  GElf_Addr bias = 0;
  Elf* const own = dwfl_module_getelf(module, &bias);
  const DebugInformation information = FindDebugInformation(module);
  if (own == nullptr || information.dwarf == nullptr) return false;
  return dwarf_getelf(information.dwarf) == own && !HasPartsElsewhere(information);
}

}  // namespace leakgate
