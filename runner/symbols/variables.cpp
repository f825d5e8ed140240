#include "runner/symbols/variables.h"

#include <dwarf.h>
#include <gelf.h>

#include <map>
#include <string_view>

#include "runner/symbols/debug_units.h"
#include "runner/symbols/module_file.h"
#include "runner/symbols/name_text.h"
#include "runner/symbols/range_map.h"

namespace leakgate {
namespace {

// Deeper nesting is not of a compiler's making.
constexpr int kMostNested = 200;
constexpr std::chrono::milliseconds kPatience(500);

bool MayHoldVariables(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
         tag == DW_TAG_lexical_block;
}

// The address or number that `operation` puts on the stack. In a unit that -gsplit-dwarf has
// halved, it stands in a table of the other half.
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

SourcePosition DebugVariables::PositionAt(std::uint64_t address) {
  Read();
  return Find(by_address_, address - bias_);
}

SourcePosition DebugVariables::ThreadLocalPositionAt(std::uint64_t offset) {
  Read();
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

// Not by dwarf_decl_file: it ends the process at a unit that -gsplit-dwarf has halved. The
// number is one in the table of the unit that has the attribute, which may be another's.
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

void DebugVariables::Read() {
  if (is_read_) return;
  is_read_ = true;
  const DebugInformation information = DebugInformationOf(module_);
  bias_ = information.bias;
  if (information.dwarf == nullptr) return;
  const Clock::time_point deadline = Clock::now() + kPatience;
  ForEachUnit(information, [&](Dwarf_Die unit, Dwarf_Die details) {
    Dwarf_Attribute attribute;
    directories_[details.cu] = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    ReadScope(&details, 0, deadline);
    return Clock::now() <= deadline;
  });
}

void DebugVariables::ReadScope(Dwarf_Die* scope, int depth, Clock::time_point deadline) {
  Dwarf_Die child;
  if (depth > kMostNested || dwarf_child(scope, &child) != 0) return;
  for (;;) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variable) ReadVariable(&child);
    if (MayHoldVariables(tag)) ReadScope(&child, depth + 1, deadline);
    const Dwarf_Off offset = dwarf_dieoffset(&child);
    if (dwarf_siblingof(&child, &child) != 0) return;
    if (dwarf_dieoffset(&child) <= offset) return;  // broken: it would not end
    if (depth <= 1 && Clock::now() > deadline) return;
  }
}

// Those that have one place throughout.
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
