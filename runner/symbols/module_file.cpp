#include "runner/symbols/module_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "common/region_layout.h"
#include "runner/symbols/demangle.h"

namespace leakgate {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
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

// Opens a regular file, never a pipe or a device that the process named.
int OpenRegularFile(const std::string& path) {
  if (path.empty() || path.front() != '/') return -1;  // "[vdso]"
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  close(fd);
  return -1;
}

// Adds the file to `dwfl`, its addresses unchanged. Null if it is no ELF file.
Dwfl_Module* Report(Dwfl* dwfl, const std::string& path) {
  const int fd = OpenRegularFile(path);
  if (fd < 0) return nullptr;
  dwfl_report_begin(dwfl);
  Dwfl_Module* const module = dwfl_report_elf(dwfl, path.c_str(), path.c_str(), fd, 0, true);
  if (module == nullptr) close(fd);
  dwfl_report_end(dwfl, nullptr, nullptr);
  return module;
}

std::string BuildId(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int count = dwfl_module_build_id(module, &bytes, &address);
  std::string text;
  for (int index = 0; index < count; ++index) text += fmt::format("{:02x}", bytes[index]);
  return text;
}

// The agent keeps the beginning of a build-id that is too long for its record.
bool SameBuildId(const std::string& recorded, const std::string& on_disk) {
  constexpr std::size_t kRecordedDigits = 2 * sizeof(ModuleRecord::build_id);
  return recorded == on_disk.substr(0, kRecordedDigits);
}

std::string FunctionName(const DebugFunction& function, const std::string& symbol) {
  if (!function.name.empty() && !symbol.starts_with("_Z")) return function.name;
  const std::string name = Demangle(function.linkage_name.empty() ? symbol : function.linkage_name);
  // The demangler does not know all of C++.
  return name.starts_with("_Z") && !function.name.empty() ? function.name : name;
}

}  // namespace

OpenedModule OpenDwfl(const std::string& path, DebugSource source) {
  OpenedModule opened;
  opened.dwfl.reset(dwfl_begin(source == DebugSource::kAnyFile ? &kCallbacks : &kOwnFileCallbacks));
  if (opened.dwfl) opened.module = Report(opened.dwfl.get(), path);
  return opened;
}

std::unique_ptr<ModuleFile> ModuleFile::Open(const Module& module, DebugSource source) {
  OpenedModule opened = OpenDwfl(module.path, source);
  if (opened.module == nullptr) return nullptr;
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(opened.module, &bias);
  if (elf == nullptr || !SameBuildId(module.build_id, BuildId(opened.module))) return nullptr;
  return std::unique_ptr<ModuleFile>(new ModuleFile(std::move(opened), elf));
}

ModuleFile::ModuleFile(OpenedModule opened, Elf* elf)
    : opened_(std::move(opened)),
      symbols_(opened_.module),
      debug_functions_(opened_.module),
      call_targets_(elf) {}

std::vector<Frame> ModuleFile::FramesAt(std::uint64_t return_address) {
  // The call itself, not what follows it: that may be another line or function.
  const std::uint64_t address = return_address - 1;
  std::vector<DebugFunction> functions = debug_functions_.At(address);
  if (functions.empty()) functions.emplace_back();

  std::vector<Frame> frames;
  for (const DebugFunction& function : functions) {
    Frame& frame = frames.emplace_back();
    frame.inlined = frames.size() < functions.size();
    frame.function = FunctionName(function, frame.inlined ? "" : symbols_.NameAt(address));
    frame.file = function.position.file;
    frame.line = function.position.line;
  }
  const CallTarget target = call_targets_.CalledAt(return_address);
  frames.back().called_function = target.exported;
  frames.back().calls_through_pointer = target.through_pointer;
  return frames;
}

}  // namespace leakgate
