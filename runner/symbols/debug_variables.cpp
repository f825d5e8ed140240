#include "runner/symbols/debug_variables.h"

#include <dwarf.h>

#include <filesystem>

#include "runner/symbols/debug_units.h"

namespace leakgate {
namespace {

// Deeper nesting is not of a compiler's making.
constexpr int kMostNested = 200;
constexpr std::chrono::milliseconds kPatience(500);

bool MayHoldVariables(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
         tag == DW_TAG_lexical_block;
}

SourcePosition PositionOf(Dwarf_Die die) {
  SourcePosition position;
  if (const char* const file = dwarf_decl_file(&die); file != nullptr) {
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    const char* directory = nullptr;
    if (dwarf_diecu(&die, &unit, nullptr, nullptr) != nullptr) {
      directory = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    }
    const std::filesystem::path base = directory != nullptr ? directory : "";
    position.file = (base / file).lexically_normal().string();
    dwarf_decl_line(&die, &position.line);
  }
  return position;
}

SourcePosition Find(const std::unordered_map<std::uint64_t, Dwarf_Die>& variables,
                    std::uint64_t at) {
  const auto found = variables.find(at);
  return found != variables.end() ? PositionOf(found->second) : SourcePosition();
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

void DebugVariables::Read() {
  if (is_read_) return;
  is_read_ = true;
  Dwarf* const dwarf = dwfl_module_getdwarf(module_, &bias_);
  if (dwarf == nullptr) return;
  const Clock::time_point deadline = Clock::now() + kPatience;
  ForEachUnit(dwarf, [&](const Dwarf_Die&, Dwarf_Die details) {
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
  const Dwarf_Op& first = operations[0];
  if (count == 1 && first.atom == DW_OP_addr) {
    by_address_.try_emplace(first.number, *die);
  } else if (count == 1 && (first.atom == DW_OP_addrx || first.atom == DW_OP_GNU_addr_index)) {
    Dwarf_Attribute place;
    Dwarf_Addr address = 0;
    if (dwarf_getlocation_attr(&attribute, &first, &place) == 0 &&
        dwarf_formaddr(&place, &address) == 0) {
      by_address_.try_emplace(address, *die);
    }
  } else if (count == 2 && (operations[1].atom == DW_OP_GNU_push_tls_address ||
                            operations[1].atom == DW_OP_form_tls_address)) {
    thread_locals_.try_emplace(first.number, *die);
  }
}

}  // namespace leakgate
