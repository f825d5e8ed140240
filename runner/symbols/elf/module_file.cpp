#include "runner/symbols/module_file.h"

#include <optional>
#include <string>
#include <utility>

#include "runner/symbols/elf/call_target.h"
#include "runner/symbols/elf/debug_functions.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/opened_module.h"
#include "runner/symbols/elf/symbol_files.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

class ElfModuleFile final : public ModuleFile {
 public:
  ElfModuleFile(OpenedModule opened, Elf* elf, DebugSource source);

  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address) override;
  [[nodiscard]] Frame SymbolAt(std::uint64_t return_address) override;
  [[nodiscard]] bool IsWhole() const override;
  [[nodiscard]] bool HasItsOwnSymbols() const override;

 private:
  void AddCallTarget(std::uint64_t return_address, Frame& frame) const;

  OpenedModule opened_;  // the others point into it
  SymbolTable symbols_;
  std::optional<DebugFunctions> debug_functions_;  // when first asked for
  CallTargets call_targets_;
  Elf* elf_;  // the file itself
  DebugSource source_;
};

// A file of debug information alone has no code, from which calls could be read.
ElfModuleFile::ElfModuleFile(OpenedModule opened, Elf* elf, DebugSource source)
    : opened_(std::move(opened)),
      symbols_(opened_.module),
      call_targets_(HasCode(elf) ? elf : nullptr),
      elf_(elf),
      source_(source) {}

bool ElfModuleFile::IsWhole() const {
  return source_ == DebugSource::kOwnFile || HasItsOwnDebugInformation(opened_.module);
}

bool ElfModuleFile::HasItsOwnSymbols() const {
  return source_ == DebugSource::kOwnFile || HasFullSymbolTable(elf_);
}

Frame ElfModuleFile::SymbolAt(std::uint64_t return_address) {
  Frame frame;
  frame.function = Demangle(std::string(symbols_.NameAt(return_address - 1)));
  AddCallTarget(return_address, frame);
  return frame;
}

void ElfModuleFile::AddCallTarget(std::uint64_t return_address, Frame& frame) const {
  const CallTarget target = call_targets_.CalledAt(return_address);
  frame.called_function = target.exported;
  frame.calls_through_pointer = target.through_pointer;
}

std::vector<Frame> ElfModuleFile::FramesAt(std::uint64_t return_address) {
  // This address is within the call itself: what follows the call may be another line or function.
  const std::uint64_t address = return_address - 1;
  if (!debug_functions_) debug_functions_.emplace(opened_.module);
  const std::vector<DebugFunction> functions = debug_functions_->At(address);
  std::vector<Frame> frames = FramesOf(functions, symbols_.NameAt(address));
  AddCallTarget(return_address, frames.back());
  const bool is_wrapper = functions.size() == 1 && functions.back().returns_void_pointer &&
                          ReturnsBlock(frames.back().called_function) &&
                          call_targets_.IsOnlyReturned(functions.back().begin, return_address);
  if (is_wrapper) frames.back().wrapper = Wrapper::kRecognised;
  return frames;
}

std::unique_ptr<ModuleFile> OpenIfSame(const Module& module, DebugSource source,
                                       OpenedModule opened) {
  if (opened.module == nullptr) return nullptr;
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(opened.module, &bias);
  const bool is_same = module.build_id == CutToRecordedLength(BuildIdOf(opened.module));
  if (elf == nullptr || !is_same) return nullptr;
  return std::make_unique<ElfModuleFile>(std::move(opened), elf, source);
}

}  // namespace

std::shared_ptr<SymbolFiles> NewSymbolFiles(std::vector<std::filesystem::path> directories) {
  return std::make_shared<SymbolFiles>(std::move(directories));
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

}  // namespace leakgate
