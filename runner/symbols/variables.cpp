#include "runner/symbols/variables.h"

#include <gelf.h>

#include <map>
#include <string_view>

#include "runner/symbols/debug_variables.h"
#include "runner/symbols/demangle.h"
#include "runner/symbols/module_file.h"
#include "runner/symbols/range_map.h"

namespace leakgate {

struct VariableSymbol {
  std::uint64_t begin;  // of a thread-local, among those of the file
  std::string_view name;
};

// One file's variables. The symbols' names are the module's.
class VariableFile {
 public:
  VariableFile(const std::string& path, DebugSource source) : dwfl_(OpenDwfl(path, source)) {
    if (!dwfl_.module) return;
    debug_.emplace(dwfl_.module);
    ReadSymbols();
  }

  std::optional<Variable> At(std::uint64_t address) {
    const VariableSymbol* const symbol = globals_.Find(address);
    if (symbol == nullptr) return std::nullopt;
    return Variable{Demangle(std::string(symbol->name)), debug_->PositionAt(symbol->begin)};
  }

  std::optional<Variable> ThreadLocalAt(std::uint64_t offset) {
    const VariableSymbol* const symbol = thread_locals_.Find(offset);
    if (symbol == nullptr) return std::nullopt;
    return Variable{Demangle(std::string(symbol->name)),
                    debug_->ThreadLocalPositionAt(symbol->begin)};
  }

 private:
  void ReadSymbols() {
    const int count = dwfl_module_getsymtab(dwfl_.module);
    for (int index = 1; index < count; ++index) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* const name = dwfl_module_getsym_info(dwfl_.module, index, &symbol, &address,
                                                       nullptr, nullptr, nullptr);
      const bool is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
      if (name == nullptr || *name == '\0' || !is_defined) continue;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      if (type == STT_OBJECT) globals_.Add(address, address + symbol.st_size, {address, name});
      if (type == STT_TLS) {
        thread_locals_.Add(symbol.st_value, symbol.st_value + symbol.st_size,
                           {symbol.st_value, name});
      }
    }
    globals_.Seal();
    thread_locals_.Seal();
  }

  OpenedModule dwfl_;
  std::optional<DebugVariables> debug_;
  RangeMap<VariableSymbol> globals_;
  RangeMap<VariableSymbol> thread_locals_;
};

struct Variables::Caches {
  Symbolizer::SymbolsAreEnough symbols_are_enough;
  std::map<std::string, VariableFile> by_path;

  VariableFile& For(const std::string& path) {
    const auto known = by_path.find(path);
    if (known != by_path.end()) return known->second;
    const bool is_enough = symbols_are_enough && symbols_are_enough(path);
    const DebugSource source = is_enough ? DebugSource::kOwnFile : DebugSource::kAnyFile;
    return by_path.emplace(std::piecewise_construct, std::tuple(path), std::tuple(path, source))
        .first->second;
  }
};

Variables::Variables(Symbolizer::SymbolsAreEnough symbols_are_enough)
    : caches_(std::make_unique<Caches>()) {
  caches_->symbols_are_enough = std::move(symbols_are_enough);
}
Variables::~Variables() = default;
Variables::Variables(Variables&&) noexcept = default;
Variables& Variables::operator=(Variables&&) noexcept = default;

std::optional<Variable> Variables::At(const std::string& path, std::uint64_t address) {
  return caches_->For(path).At(address);
}

std::optional<Variable> Variables::ThreadLocalAt(const std::string& path, std::uint64_t offset) {
  return caches_->For(path).ThreadLocalAt(offset);
}

}  // namespace leakgate
