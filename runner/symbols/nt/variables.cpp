#include <algorithm>
#include <optional>

#include "runner/symbols/name_text.h"
#include "runner/symbols/nt/opened_pe.h"
#include "runner/symbols/variable_file.h"

namespace leakgate {
namespace {

class PeVariableFile final : public VariableFile {
 public:
  PeVariableFile(const std::string& path, DebugSource source)
      : opened_(OpenedPe::Open(path, source)) {}

  [[nodiscard]] std::optional<Variable> At(std::uint64_t address) override {
    if (opened_ == nullptr) return std::nullopt;
    if (opened_->pdb() != nullptr) return opened_->pdb()->VariableAt(address);
    const std::optional<PeSymbols::Data> symbol = opened_->symbols().DataAt(address);
    if (!symbol) return std::nullopt;
    Variable variable{Demangle(symbol->name), {}};
    if (opened_->dwarf() != nullptr) {
      const auto known = opened_->dwarf()->VariableAt(symbol->extent.begin);
      if (known) variable.position = known->position;
    }
    return variable;
  }

  [[nodiscard]] VariableExtent ExtentAt(std::uint64_t address) override {
    const VariableExtent word{address, address + sizeof(std::uint64_t)};
    if (opened_ == nullptr) return word;
    if (opened_->pdb() != nullptr) return opened_->pdb()->ExtentAt(address).value_or(word);
    const std::optional<PeSymbols::Data> symbol = opened_->symbols().DataAt(address);
    return symbol ? symbol->extent : word;
  }

  // Thread-locals are named by their threads alone: mingw's are blocks, and MSVC's have no symbols
  // of their own.
  [[nodiscard]] std::optional<Variable> ThreadLocalAt(std::uint64_t) override {
    return std::nullopt;
  }

  [[nodiscard]] bool TellsAll() override {
    if (opened_ == nullptr || !opened_->IsWhole()) return false;
    return opened_->dwarf() == nullptr || opened_->dwarf()->HadTime();
  }

 private:
  std::unique_ptr<OpenedPe> opened_;
};

}  // namespace

std::unique_ptr<VariableFile> VariableFile::Open(const std::string& path, DebugSource source) {
  return std::make_unique<PeVariableFile>(path, source);
}

}  // namespace leakgate
