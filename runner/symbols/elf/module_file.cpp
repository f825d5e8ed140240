#include "runner/symbols/elf/module_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "runner/base/regular_file.h"
#include "runner/symbols/debug_servers.h"
#include "runner/symbols/elf/symbol_files.h"
#include "runner/symbols/name_text.h"
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

// Returns whether an exported function returns a block that its caller owns.
bool ReturnsBlock(std::string_view function) {
  constexpr std::array<std::string_view, 14> kAllocators = {"malloc",
                                                            "calloc",
                                                            "realloc",
                                                            "reallocarray",
                                                            "aligned_alloc",
                                                            "memalign",
                                                            "valloc",
                                                            "pvalloc",
                                                            "_Znwm",
                                                            "_Znam",
                                                            "_ZnwmRKSt9nothrow_t",
                                                            "_ZnamRKSt9nothrow_t",
                                                            "_ZnwmSt11align_val_t",
                                                            "_ZnamSt11align_val_t"};
  return std::find(kAllocators.begin(), kAllocators.end(), function) != kAllocators.end();
}

std::string FunctionName(const DebugFunction& function, const std::string& symbol) {
  if (!function.name.empty() && !symbol.starts_with("_Z")) return function.name;
  const std::string name = Demangle(function.linkage_name.empty() ? symbol : function.linkage_name);
  // The demangler does not support all names of C++.
  return name.starts_with("_Z") && !function.name.empty() ? function.name : name;
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

std::unique_ptr<ModuleFile> ModuleFile::OpenIfSame(const Module& module, DebugSource source,
                                                   OpenedModule opened) {
  if (opened.module == nullptr) return nullptr;
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(opened.module, &bias);
  const bool is_same = module.build_id == CutToRecordedLength(BuildIdOf(opened.module));
  if (elf == nullptr || !is_same) return nullptr;
  return std::unique_ptr<ModuleFile>(new ModuleFile(std::move(opened), elf, source));
}

ModuleFile::OpenResult ModuleFile::Open(const Module& module, DebugSource source,
                                        SymbolFiles* files) {
  const bool is_sought = files != nullptr && !module.build_id.empty();
  const FoundSymbolFiles found = is_sought ? files->Find(module.build_id) : FoundSymbolFiles{};
  OpenedModule opened = OpenWithElfutils(module.path, source, found.debug);
  OpenResult result;
  if (opened.module != nullptr) result.state = ModuleFileState::kOtherFile;
  result.file = OpenIfSame(module, source, std::move(opened));
  const auto open_one_of = [&](const FoundSymbolFiles& files_of_build) {
    for (const std::string& path : {files_of_build.binary, files_of_build.debug}) {
      if (result.file || path.empty()) continue;
      result.file =
          OpenIfSame(module, source, OpenWithElfutils(path, source, files_of_build.debug));
    }
  };
  open_one_of(found);
  if (!result.file && is_sought) open_one_of(DownloadSymbolFiles(module.build_id));
  if (result.file) result.state = ModuleFileState::kFound;
  return result;
}

// A file of debug information alone has no code, from which calls could be read.
ModuleFile::ModuleFile(OpenedModule opened, Elf* elf, DebugSource source)
    : opened_(std::move(opened)),
      symbols_(opened_.module),
      call_targets_(HasCode(elf) ? elf : nullptr),
      elf_(elf),
      source_(source) {}

bool ModuleFile::IsWhole() const {
  return source_ == DebugSource::kOwnFile || HasItsOwnDebugInformation(opened_.module);
}

bool ModuleFile::HasItsOwnSymbols() const {
  return source_ == DebugSource::kOwnFile || HasFullSymbolTable(elf_);
}

Frame ModuleFile::SymbolAt(std::uint64_t return_address) {
  Frame frame;
  frame.function = Demangle(std::string(symbols_.NameAt(return_address - 1)));
  AddCallTarget(return_address, frame);
  return frame;
}

void ModuleFile::AddCallTarget(std::uint64_t return_address, Frame& frame) const {
  const CallTarget target = call_targets_.CalledAt(return_address);
  frame.called_function = target.exported;
  frame.calls_through_pointer = target.through_pointer;
}

std::vector<Frame> ModuleFile::FramesAt(std::uint64_t return_address) {
  // This address is within the call itself: what follows the call may be another line or function.
  const std::uint64_t address = return_address - 1;
  if (!debug_functions_) debug_functions_.emplace(opened_.module);
  std::vector<DebugFunction> functions = debug_functions_->At(address);
  if (functions.empty()) functions.emplace_back();

  std::vector<Frame> frames;
  for (const DebugFunction& function : functions) {
    Frame& frame = frames.emplace_back();
    frame.inlined = frames.size() < functions.size();
    frame.function =
        FunctionName(function, std::string(frame.inlined ? "" : symbols_.NameAt(address)));
    frame.file = function.position.file;
    frame.line = function.position.line;
  }
  AddCallTarget(return_address, frames.back());
  const DebugFunction& function = functions.back();
  const bool is_wrapper = frames.size() == 1 && function.returns_void_pointer &&
                          ReturnsBlock(frames.back().called_function) &&
                          call_targets_.IsOnlyReturned(function.begin, return_address);
  if (is_wrapper) frames.back().wrapper = Wrapper::kRecognised;
  return frames;
}

}  // namespace leakgate
