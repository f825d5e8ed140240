#include "runner/symbols/elf/debug_functions.h"

#include <optional>

#include "runner/symbols/elf/debug_information.h"
#include "runner/symbols/elf/unit_entries.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Calls `use(begin, end)` for each address range of `die`.
template <typename Use>
void ForEachRange(Dwarf_Die* die, Use use) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t position = 0;
  while ((position = dwarf_ranges(die, position, &base, &begin, &end)) > 0) {
    // The linker leaves the ranges of functions that it dropped at 0.
    if (begin != 0) use(begin, end);
  }
}

void AddFunction(Dwarf_Die function, RangeMap<Dwarf_Die>& functions) {
  ForEachRange(&function,
               [&](Dwarf_Addr begin, Dwarf_Addr end) { functions.Add(begin, end, function); });
}

void CollectFunctions(Dwarf_Die* die, Dwarf_Off& reached, int depth,
                      RangeMap<Dwarf_Die>& functions) {
  if (depth > kMostNestedEntries) return;
  ForEachChild(die, reached, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) AddFunction(child, functions);
    if (MayHoldDefinitions(tag)) CollectFunctions(&child, reached, depth + 1, functions);
    return true;
  });
}

// A block without addresses of its own may hold any address of the scope around it.
bool MayHold(Dwarf_Die* scope, Dwarf_Addr address) {
  if (dwarf_haspc(scope, address) > 0) return true;
  return dwarf_tag(scope) == DW_TAG_lexical_block && dwarf_hasattr(scope, DW_AT_low_pc) == 0 &&
         dwarf_hasattr(scope, DW_AT_ranges) == 0;
}

// Adds the functions inlined at `address` in `scope`, outermost first. Returns whether there
// is one.
bool CollectInlined(Dwarf_Die* scope, Dwarf_Addr address, Dwarf_Off& reached, int depth,
                    std::vector<Dwarf_Die>& inlined) {
  if (depth > kMostNestedEntries) return false;
  bool found = false;
  ForEachChild(scope, reached, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) return true;
    if (!MayHold(&child, address)) return true;
    if (tag == DW_TAG_inlined_subroutine) inlined.push_back(child);
    found = CollectInlined(&child, address, reached, depth + 1, inlined) ||
            tag == DW_TAG_inlined_subroutine;
    return !found;
  });
  return found;
}

// Looks in the declaration, too, if `die` is the definition of one.
std::string IntegratedText(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute value;
  const char* const text = dwarf_formstring(dwarf_attr_integrate(die, attribute, &value));
  return text != nullptr ? text : "";
}

DebugFunction NameFunction(Dwarf_Die* die, QualifiedNames& names) {
  DebugFunction function;
  function.linkage_name = IntegratedText(die, DW_AT_linkage_name);
  if (function.linkage_name.empty())
    function.linkage_name = IntegratedText(die, DW_AT_MIPS_linkage_name);
  const bool readable = Demangle(function.linkage_name) != function.linkage_name;
  if (!readable) function.name = names.Of(*die);
  return function;
}

bool ReturnsVoidPointer(Dwarf_Die* function) {
  Dwarf_Attribute value;
  Dwarf_Die type;
  if (dwarf_formref_die(dwarf_attr_integrate(function, DW_AT_type, &value), &type) == nullptr) {
    return false;
  }
  return dwarf_tag(&type) == DW_TAG_pointer_type && dwarf_hasattr(&type, DW_AT_type) == 0;
}

// Typedefs and qualifiers stand in front of a type, some deep.
constexpr int kMostTypeSteps = 32;

ParameterKind KindOfParameter(Dwarf_Die* parameter) {
  Dwarf_Attribute value;
  Dwarf_Die type;
  if (dwarf_formref_die(dwarf_attr_integrate(parameter, DW_AT_type, &value), &type) == nullptr) {
    return ParameterKind::kOther;
  }
  for (int i = 0; i < kMostTypeSteps; ++i) {
    switch (dwarf_tag(&type)) {
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type:
      case DW_TAG_rvalue_reference_type:
      case DW_TAG_enumeration_type:
        return ParameterKind::kInteger;
      case DW_TAG_base_type: {
        Dwarf_Word encoding = 0;
        Dwarf_Word bytes = 0;
        if (dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &value), &encoding) != 0 ||
            dwarf_formudata(dwarf_attr(&type, DW_AT_byte_size, &value), &bytes) != 0 || bytes > 8) {
          return ParameterKind::kOther;
        }
        return encoding == DW_ATE_float ? ParameterKind::kFloating : ParameterKind::kInteger;
      }
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_atomic_type:
      case DW_TAG_restrict_type:
        if (dwarf_formref_die(dwarf_attr(&type, DW_AT_type, &value), &type) == nullptr) {
          return ParameterKind::kOther;
        }
        break;
      default:
        return ParameterKind::kOther;
    }
  }
  return ParameterKind::kOther;
}

std::optional<Dwarf_Word> NumberOf(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr(die, attribute, &value), &number) != 0) return std::nullopt;
  return number;
}

}  // namespace

DebugFunctions::DebugFunctions(Dwfl_Module* module) {
  const DebugInformation information = FindDebugInformation(module);
  bias_ = information.bias;
  if (information.dwarf == nullptr) return;
  ForEachUnit(information, [&](Dwarf_Die die, const Dwarf_Die& details) {
    Unit& unit = units_.emplace_back(Unit{die, details, IntegratedText(&die, DW_AT_comp_dir)});
    ForEachRange(
        &die, [&](Dwarf_Addr begin, Dwarf_Addr end) { unit_by_address_.Add(begin, end, &unit); });
    return true;
  });
  unit_by_address_.Seal();
}

SourcePosition DebugFunctions::LineAt(Unit& unit, Dwarf_Addr address) {
  Dwarf_Line* const line = dwarf_getsrc_die(&unit.lines, address);
  if (line == nullptr) return {};
  SourcePosition position{SourcePath(unit.directory.c_str(), dwarf_linesrc(line, nullptr, nullptr)),
                          0};
  dwarf_lineno(line, &position.line);
  return position;
}

SourcePosition DebugFunctions::CallPosition(Unit& unit, Dwarf_Die* inlined) {
  SourcePosition position;
  position.line = static_cast<int>(NumberOf(inlined, DW_AT_call_line).value_or(0));
  const std::optional<Dwarf_Word> index = NumberOf(inlined, DW_AT_call_file);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (index && dwarf_getsrcfiles(&unit.functions, &files, &count) == 0 && *index < count) {
    position.file =
        SourcePath(unit.directory.c_str(), dwarf_filesrc(files, *index, nullptr, nullptr));
  }
  return position;
}

void DebugFunctions::ReadFunctions(Unit& unit) {
  if (unit.read) return;
  if (const std::optional<UnitEntries> entries = FindEntries(unit.functions)) {
    for (const Dwarf_Off offset : entries->functions) {
      Dwarf_Die function;
      if (dwarf_offdie(dwarf_cu_getdwarf(unit.functions.cu), offset, &function) == nullptr)
        continue;
      AddFunction(function, unit.by_address);
    }
  } else {
    Dwarf_Off reached = dwarf_dieoffset(&unit.functions);
    CollectFunctions(&unit.functions, reached, 0, unit.by_address);
  }
  unit.by_address.Seal();
  unit.read = true;
}

std::vector<DebugFunction> DebugFunctions::At(std::uint64_t address) {
  const Dwarf_Addr pc = address - bias_;
  Unit* const* const found = unit_by_address_.Find(pc);
  if (found == nullptr) return {};
  Unit& unit = **found;
  ReadFunctions(unit);

  std::vector<Dwarf_Die> chain;  // outermost first
  if (const Dwarf_Die* const function = unit.by_address.Find(pc); function != nullptr) {
    chain.push_back(*function);
    Dwarf_Off reached = dwarf_dieoffset(&chain.front());
    CollectInlined(&chain.front(), pc, reached, 0, chain);
  }

  SourcePosition position = LineAt(unit, pc);
  if (chain.empty()) return {DebugFunction{{}, {}, position}};
  std::vector<DebugFunction> functions;
  for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
    DebugFunction& function = functions.emplace_back(NameFunction(&*die, names_));
    function.position = position;
    position = CallPosition(unit, &*die);
  }
  Dwarf_Addr begin = 0;
  if (dwarf_entrypc(&chain.front(), &begin) == 0) functions.back().begin = begin + bias_;
  functions.back().returns_void_pointer = ReturnsVoidPointer(&chain.front());
  return functions;
}

std::optional<FunctionParameters> DebugFunctions::ParametersAt(std::uint64_t address) {
  const Dwarf_Addr pc = address - bias_;
  Unit* const* const found = unit_by_address_.Find(pc);
  if (found == nullptr) return std::nullopt;
  ReadFunctions(**found);
  const Dwarf_Die* const known = (*found)->by_address.Find(pc);
  if (known == nullptr) return std::nullopt;
  Dwarf_Die function = *known;
  Dwarf_Attribute value;
  FunctionParameters result{
      .has_object = dwarf_attr_integrate(&function, DW_AT_object_pointer, &value) != nullptr,
      .kinds = {}};
  Dwarf_Off reached = dwarf_dieoffset(&function);
  bool is_object = result.has_object;  // comes first
  ForEachChild(&function, reached, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
    if (!is_object) result.kinds.push_back(KindOfParameter(&child));
    is_object = false;
    return true;
  });
  return result;
}

}  // namespace leakgate
