#include "runner/symbols/module_file.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "runner/arch/processor.h"
#include "runner/arch/return_value.h"
#include "runner/base/path_text.h"
#include "runner/symbols/debug_function.h"
#include "runner/symbols/name_text.h"
#include "runner/symbols/nt/opened_pe.h"

namespace leakgate {

// Debug information is looked for in these directories, too.
class SymbolFiles {
 public:
  std::vector<std::filesystem::path> directories;
};

namespace {

class PeModuleFile final : public ModuleFile {
 public:
  explicit PeModuleFile(std::unique_ptr<OpenedPe> opened)
      : opened_(std::move(opened)), imports_(opened_->file().ReadImports()) {}

  [[nodiscard]] std::vector<Frame> FramesAt(std::uint64_t return_address) override {
    // This address is within the call itself: what follows the call may be another line or
    // function.
    const std::uint64_t address = return_address - 1;
    std::vector<DebugFunction> functions;
    if (opened_->dwarf() != nullptr) {
      functions = opened_->dwarf()->FunctionsAt(address);
    } else if (opened_->pdb() != nullptr) {
      functions = opened_->pdb()->FunctionsAt(address);
    }
    std::vector<Frame> frames = FramesOf(functions, SymbolNameAt(address));
    AddCallTarget(return_address, frames.back());
    const bool is_wrapper = functions.size() == 1 && functions.back().returns_void_pointer &&
                            ReturnsBlock(frames.back().called_function) &&
                            OnlyReturnsCallResult(functions.back().begin, return_address, Code());
    if (is_wrapper) frames.back().wrapper = Wrapper::kRecognised;
    return frames;
  }

  [[nodiscard]] Frame SymbolAt(std::uint64_t return_address) override {
    Frame frame;
    const std::string symbol = SymbolNameAt(return_address - 1);
    frame.function = Demangle(symbol);
    if (symbol.empty() && opened_->pdb() != nullptr) {
      const std::vector<DebugFunction> functions = opened_->pdb()->FunctionsAt(return_address - 1);
      if (!functions.empty()) frame.function = functions.back().name;
    }
    AddCallTarget(return_address, frame);
    return frame;
  }

  [[nodiscard]] bool IsWhole() const override { return opened_->IsWhole(); }
  [[nodiscard]] bool HasItsOwnSymbols() const override {
    return opened_->file().HasSymbolTable() || opened_->IsWhole();
  }

 private:
  [[nodiscard]] std::string SymbolNameAt(std::uint64_t address) const {
    const std::vector<std::string> names = opened_->symbols().NamesAt(address);
    return names.empty() ? std::string() : names.front();
  }

  [[nodiscard]] CodeReader Code() const {
    return [this](std::uint64_t address, std::size_t size) {
      return opened_->file().CodeAt(address, size);
    };
  }

  [[nodiscard]] std::string NameOfSlot(std::uint64_t slot) const {
    const auto name = imports_.find(slot);
    return name != imports_.end() ? name->second : std::string();
  }

  // Programs call imported functions through their slots, or through stubs that jump there.
  void AddCallTarget(std::uint64_t return_address, Frame& frame) const {
    const CallCode call = ReadCall(return_address, Code());
    if (call.slot) {
      frame.called_function = NameOfSlot(*call.slot);
      if (!frame.called_function.empty()) return;
    }
    if (call.function && !Code()(*call.function, 1).empty()) {
      const std::optional<std::uint64_t> slot = FindSlotOfStub(*call.function, Code());
      if (slot) {
        frame.called_function = NameOfSlot(*slot);
      } else if (std::string name = SymbolNameAt(*call.function); ReturnsBlock(name)) {
        frame.called_function = std::move(name);  // of a runtime that is linked in
      }
      return;
    }
    frame.calls_through_pointer = call.is_through_pointer;
  }

  std::unique_ptr<OpenedPe> opened_;
  std::unordered_map<std::uint64_t, std::string> imports_;  // by their slots
};

}  // namespace

std::shared_ptr<SymbolFiles> NewSymbolFiles(std::vector<std::filesystem::path> directories) {
  return std::make_shared<SymbolFiles>(SymbolFiles{std::move(directories)});
}

ModuleFile::OpenResult ModuleFile::Open(const Module& module, DebugSource source,
                                        SymbolFiles* files) {
  OpenResult result;
  std::vector<std::string> paths = {module.path};
  const std::string name = module.path.substr(module.path.find_last_of("/\\") + 1);
  for (const std::filesystem::path& directory :
       files != nullptr ? files->directories : std::vector<std::filesystem::path>()) {
    paths.push_back(PathText(directory / PathOf(name)));
  }
  for (const std::string& path : paths) {
    std::unique_ptr<OpenedPe> opened = OpenedPe::Open(
        path, source, files != nullptr ? files->directories : std::vector<std::filesystem::path>());
    if (opened == nullptr) continue;
    // An agent that has not told the build leaves the choice to the path.
    if (!module.build_id.empty() && opened->file().build_id() != module.build_id) {
      result.state = ModuleFileState::kOtherFile;
      continue;
    }
    return {std::make_unique<PeModuleFile>(std::move(opened)), ModuleFileState::kFound};
  }
  return result;
}

}  // namespace leakgate
