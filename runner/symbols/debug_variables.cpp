#include "runner/symbols/debug_variables.h"

#include <dwarf.h>

#include "runner/symbols/debug_units.h"
#include "runner/symbols/source_path.h"

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

}  // namespace leakgate
