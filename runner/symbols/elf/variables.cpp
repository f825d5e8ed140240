#include <dwarf.h>
#include <gelf.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/elf/opened_module.h"
#include "runner/symbols/elf/unit_entries.h"
#include "runner/symbols/name_text.h"
#include "runner/symbols/variable_file.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience(500);  // for the debug information of one file

// Returns the address or number that `operation` puts on the stack; nullopt if it is another
// operation. In a unit that -gsplit-dwarf has split, it is in a table of the other half.
std::optional<Dwarf_Word> OperandOf(Dwarf_Attribute* attribute, const Dwarf_Op& operation) {
  switch (operation.atom) {
    case DW_OP_addr:
    case DW_OP_const4u:
    case DW_OP_const8u:
      return operation.number;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
    case DW_OP_constx:
    case DW_OP_GNU_const_index:
      break;
    default:
      return std::nullopt;
  }
  Dwarf_Attribute place;
  Dwarf_Word value = 0;
  if (dwarf_getlocation_attr(attribute, &operation, &place) != 0) return std::nullopt;
  if (dwarf_formaddr(&place, &value) != 0 && dwarf_formudata(&place, &value) != 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

// Finds where the variables of a module are declared, by its debug information.
class DebugVariables {
 public:
  explicit DebugVariables(Dwfl_Module* module) : module_(module) {}

  // Both take where a variable begins: an address in the file, or an offset in the file's
  // thread-local storage. The position is empty if it is unknown, or if there was no time to
  // read it.
  [[nodiscard]] SourcePosition PositionAt(std::uint64_t address);
  [[nodiscard]] SourcePosition ThreadLocalPositionAt(std::uint64_t offset);

  // Returns whether there was time for all of the debug information.
  [[nodiscard]] bool HadTime() const { return had_time_; }

 private:
  SourcePosition Find(const std::unordered_map<std::uint64_t, Dwarf_Die>& variables,
                      std::uint64_t at) const;
  std::string FileOf(Dwarf_Die* die) const;
  void ReadUnits();
  void ReadUnit(Dwarf_Die unit, Clock::time_point deadline);
  void ReadScope(Dwarf_Die* scope, Dwarf_Off& reached, int depth, Clock::time_point deadline);
  void ReadVariable(Dwarf_Die* die);

  Dwfl_Module* module_;
  bool is_read_ = false;
  bool had_time_ = true;
  Dwarf_Addr bias_ = 0;
  std::unordered_map<std::uint64_t, Dwarf_Die> by_address_;
  std::unordered_map<std::uint64_t, Dwarf_Die> thread_locals_;
  // The directory in which each unit was compiled; null if the unit does not have it.
  std::unordered_map<Dwarf_CU*, const char*> directories_;
};

SourcePosition DebugVariables::PositionAt(std::uint64_t address) {
  ReadUnits();
  return Find(by_address_, address - bias_);
}

SourcePosition DebugVariables::ThreadLocalPositionAt(std::uint64_t offset) {
  ReadUnits();
  return Find(thread_locals_, offset);
}

SourcePosition DebugVariables::Find(const std::unordered_map<std::uint64_t, Dwarf_Die>& variables,
                                    std::uint64_t at) const {
  const auto found = variables.find(at);
  if (found == variables.end()) return {};
  Dwarf_Die die = found->second;
  SourcePosition position{FileOf(&die), 0};
  if (!position.file.empty()) dwarf_decl_line(&die, &position.line);
  return position;
}

// This replaces dwarf_decl_file, which ends the process at a unit that -gsplit-dwarf has split. The
// number of the file counts in the unit that has the attribute, which may be another
// unit than the variable's.
std::string DebugVariables::FileOf(Dwarf_Die* die) const {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &index) != 0) {
    return {};
  }
  Dwarf_Die unit;
  Dwarf_Half version = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  constexpr int kFirstWithFileZero = 5;
  if (dwarf_cu_die(attribute.cu, &unit, &version, nullptr, nullptr, nullptr, nullptr, nullptr) ==
          nullptr ||
      (index == 0 && version < kFirstWithFileZero) ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) {
    return {};
  }
  const auto directory = directories_.find(attribute.cu);
  return SourcePath(directory != directories_.end() ? directory->second : nullptr,
                    dwarf_filesrc(files, index, nullptr, nullptr));
}

void DebugVariables::ReadUnits() {
  if (is_read_) return;
  is_read_ = true;
  const DebugInformation information = FindDebugInformation(module_);
  bias_ = information.bias;
  if (information.dwarf == nullptr) return;
  const Clock::time_point deadline = Clock::now() + kPatience;
  ForEachUnit(information, [&](Dwarf_Die unit, Dwarf_Die details) {
    directories_[details.cu] = TextOf(unit, DW_AT_comp_dir);
    ReadUnit(details, deadline);
    had_time_ = Clock::now() <= deadline;
    return had_time_;
  });
}

void DebugVariables::ReadUnit(Dwarf_Die unit, Clock::time_point deadline) {
  const std::optional<UnitEntries> entries = FindEntries(unit);
  if (!entries) {
    Dwarf_Off reached = dwarf_dieoffset(&unit);
    return ReadScope(&unit, reached, 0, deadline);
  }
  for (const Dwarf_Off offset : entries->variables) {
    Dwarf_Die variable;
    if (dwarf_offdie(dwarf_cu_getdwarf(unit.cu), offset, &variable) != nullptr) {
      ReadVariable(&variable);
    }
  }
}

void DebugVariables::ReadScope(Dwarf_Die* scope, Dwarf_Off& reached, int depth,
                               Clock::time_point deadline) {
  if (depth > kMostNestedEntries) return;
  ForEachChild(scope, reached, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variable) ReadVariable(&child);
    if (MayHoldDefinitions(tag)) ReadScope(&child, reached, depth + 1, deadline);
    return depth > 1 || Clock::now() <= deadline;
  });
}

// Takes only variables that stay at one place.
void DebugVariables::ReadVariable(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(die, DW_AT_location, &attribute) == nullptr) return;
  if (dwarf_whatform(&attribute) != DW_FORM_exprloc) return;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count == 0) return;
  const bool is_thread_local = count == 2 && (operations[1].atom == DW_OP_GNU_push_tls_address ||
                                              operations[1].atom == DW_OP_form_tls_address);
  if (count != 1 && !is_thread_local) return;
  const std::optional<Dwarf_Word> place = OperandOf(&attribute, operations[0]);
  if (place) (is_thread_local ? thread_locals_ : by_address_).try_emplace(*place, *die);
}

struct VariableSymbol {
  std::uint64_t begin;    // the offset in the file's thread-local storage, if it is thread-local
  std::string_view name;  // owned by the module
  std::uint64_t bytes;
};

// The variables of one file.
class ElfVariableFile final : public VariableFile {
 public:
  ElfVariableFile(const std::string& path, DebugSource source)
      : dwfl_(OpenWithElfutils(path, source)) {
    if (!dwfl_.module) return;
    debug_.emplace(dwfl_.module);
    is_whole_ = source == DebugSource::kOwnFile || HasItsOwnDebugInformation(dwfl_.module);
    ReadSymbols();
  }

  [[nodiscard]] std::optional<Variable> At(std::uint64_t address) override {
    const VariableSymbol* const symbol = globals_.Find(address);
    if (symbol == nullptr) return std::nullopt;
    return Variable{Demangle(std::string(symbol->name)), debug_->PositionAt(symbol->begin)};
  }

  [[nodiscard]] VariableExtent ExtentAt(std::uint64_t address) override {
    const VariableSymbol* const symbol = globals_.Find(address);
    if (symbol != nullptr) return {symbol->begin, symbol->begin + symbol->bytes};
    return {address, address + sizeof(std::uint64_t)};
  }

  // Returns whether the file would give the same answer at another time: see ModuleFile::IsWhole.
  [[nodiscard]] bool TellsAll() override { return is_whole_ && debug_->HadTime(); }

  [[nodiscard]] std::optional<Variable> ThreadLocalAt(std::uint64_t offset) override {
    const VariableSymbol* const symbol = thread_locals_.Find(offset);
    if (symbol == nullptr) return std::nullopt;
    return Variable{Demangle(std::string(symbol->name)),
                    debug_->ThreadLocalPositionAt(symbol->begin)};
  }

 private:
  void ReadSymbols() {
    ForEachSymbol(dwfl_.module, [this](const Elf64_Sym& symbol, std::uint64_t address,
                                       const char* name, Elf*) {
      const bool is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
      if (!is_defined) return;
      const auto type = GELF_ST_TYPE(symbol.st_info);
      if (type == STT_OBJECT)
        globals_.Add(address, address + symbol.st_size, {address, name, symbol.st_size});
      if (type == STT_TLS) {
        thread_locals_.Add(symbol.st_value, symbol.st_value + symbol.st_size,
                           {symbol.st_value, name, symbol.st_size});
      }
    });
    globals_.Seal();
    thread_locals_.Seal();
  }

  OpenedModule dwfl_;
  std::optional<DebugVariables> debug_;
  bool is_whole_ = false;
  RangeMap<VariableSymbol> globals_;
  RangeMap<VariableSymbol> thread_locals_;
};

std::unique_ptr<VariableFile> VariableFile::Open(const std::string& path, DebugSource source) {
  return std::make_unique<ElfVariableFile>(path, source);
}

}  // namespace leakgate
