#include "runner/symbols/nt/dwarf_reader.h"

#include <fmt/format.h>
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <unordered_map>
#include <utility>

#include "runner/symbols/name_text.h"
#include "runner/symbols/range_map.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience(500);  // for the variables of one file
constexpr int kMostDepth = 64;
constexpr int kMostOrigins = 8;

// Where libdwarf puts an error that nobody looks at. It keeps the error until the file is closed,
// and ends the process where it is given no place for one.
Dwarf_Error* Ignored() {
  thread_local Dwarf_Error error = nullptr;
  return &error;
}

// An entry of the debug information. It may be empty.
class Die {
 public:
  Die() = default;
  explicit Die(Dwarf_Die die) : die_(die) {}
  ~Die() {
    if (die_ != nullptr) dwarf_dealloc_die(die_);
  }
  Die(Die&& other) noexcept : die_(std::exchange(other.die_, nullptr)) {}
  Die& operator=(Die&& other) noexcept {
    std::swap(die_, other.die_);
    return *this;
  }

  [[nodiscard]] Dwarf_Die get() const { return die_; }
  explicit operator bool() const { return die_ != nullptr; }

  [[nodiscard]] Dwarf_Half Tag() const {
    Dwarf_Half tag = 0;
    return dwarf_tag(die_, &tag, Ignored()) == DW_DLV_OK ? tag : Dwarf_Half{0};
  }
  [[nodiscard]] Dwarf_Off Offset() const {
    Dwarf_Off offset = 0;
    return dwarf_dieoffset(die_, &offset, Ignored()) == DW_DLV_OK ? offset : 0;
  }
  [[nodiscard]] Die FirstChild() const {
    Dwarf_Die child = nullptr;
    return Die(dwarf_child(die_, &child, Ignored()) == DW_DLV_OK ? child : nullptr);
  }

 private:
  Dwarf_Die die_ = nullptr;
};

class Attribute {
 public:
  Attribute(const Die& die, Dwarf_Half number) {
    if (dwarf_attr(die.get(), number, &attribute_, Ignored()) != DW_DLV_OK) attribute_ = nullptr;
  }
  ~Attribute() {
    if (attribute_ != nullptr) dwarf_dealloc_attribute(attribute_);
  }
  Attribute(const Attribute&) = delete;
  Attribute& operator=(const Attribute&) = delete;

  explicit operator bool() const { return attribute_ != nullptr; }
  [[nodiscard]] Dwarf_Attribute get() const { return attribute_; }
  [[nodiscard]] std::string Text() const {
    char* text = nullptr;
    const bool is_text =
        attribute_ != nullptr && dwarf_formstring(attribute_, &text, Ignored()) == DW_DLV_OK;
    return is_text ? text : "";
  }
  [[nodiscard]] std::optional<Dwarf_Unsigned> Number() const {
    Dwarf_Unsigned number = 0;
    Dwarf_Signed with_sign = 0;
    if (attribute_ == nullptr) return std::nullopt;
    if (dwarf_formudata(attribute_, &number, Ignored()) == DW_DLV_OK) return number;
    const bool is_number = dwarf_formsdata(attribute_, &with_sign, Ignored()) == DW_DLV_OK;
    return is_number && with_sign >= 0 ? std::optional(static_cast<Dwarf_Unsigned>(with_sign))
                                       : std::nullopt;
  }
  [[nodiscard]] std::optional<Dwarf_Off> Reference() const {
    Dwarf_Off offset = 0;
    const bool is_reference =
        attribute_ != nullptr && dwarf_global_formref(attribute_, &offset, Ignored()) == DW_DLV_OK;
    return is_reference ? std::optional(offset) : std::nullopt;
  }

 private:
  Dwarf_Attribute attribute_ = nullptr;
};

// Namespaces, types and functions may define functions, and name what they contain.
bool IsScope(Dwarf_Half tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

struct Sections {
  const PeFile& file;
};

int GetSection(void* object, Dwarf_Half number, Dwarf_Obj_Access_Section* section, int*) {
  const auto& sections = static_cast<Sections*>(object)->file.sections();
  if (number >= sections.size()) return DW_DLV_NO_ENTRY;
  *section = {};
  section->size = sections[number].bytes.size();
  section->name = sections[number].name.c_str();
  section->type = 1;
  return DW_DLV_OK;
}
Dwarf_Endianness GetByteOrder(void*) { return DW_OBJECT_LSB; }
Dwarf_Small GetLengthSize(void*) { return 4; }
Dwarf_Small GetPointerSize(void*) { return 8; }
Dwarf_Unsigned GetSectionCount(void* object) {
  return static_cast<Sections*>(object)->file.sections().size();
}
int LoadSection(void* object, Dwarf_Half number, Dwarf_Small** bytes, int*) {
  const auto& sections = static_cast<Sections*>(object)->file.sections();
  if (number >= sections.size()) return DW_DLV_NO_ENTRY;
  // libdwarf does not write to it.
  *bytes = const_cast<Dwarf_Small*>(sections[number].bytes.data());
  return DW_DLV_OK;
}

constexpr Dwarf_Obj_Access_Methods kMethods = {
    GetSection, GetByteOrder, GetLengthSize, GetPointerSize, GetSectionCount, LoadSection, nullptr};

}  // namespace

struct DwarfReader::Parts {
  struct Line {
    std::uint32_t file = 0;  // its number in `files`
    int line = 0;
  };
  struct Unit {
    Die die;
    std::string directory;
    bool has_functions = false;
    bool has_lines = false;
    RangeMap<Dwarf_Off> functions{};
    RangeMap<Line> lines{};
    std::vector<std::string> files{};                          // by their numbers in the line table
    std::unordered_map<Dwarf_Off, std::string> names{};        // qualified, of scopes and variables
    std::unordered_map<std::uint64_t, Dwarf_Off> variables{};  // by address
  };

  explicit Parts(const PeFile& pe) : sections{pe} {}
  ~Parts() {
    units.clear();
    if (dwarf != nullptr) dwarf_object_finish(dwarf, Ignored());
  }

  [[nodiscard]] Die At(Dwarf_Off offset) const {
    Dwarf_Die die = nullptr;
    return Die(dwarf_offdie_b(dwarf, offset, true, &die, Ignored()) == DW_DLV_OK ? die : nullptr);
  }
  [[nodiscard]] Die Next(const Die& die) const {
    Dwarf_Die next = nullptr;
    return Die(dwarf_siblingof_b(dwarf, die.get(), true, &next, Ignored()) == DW_DLV_OK ? next
                                                                                        : nullptr);
  }
  // Calls `use(child)` for each; stops where that returns false.
  template <typename Use>
  void ForEachChild(const Die& die, Use use) const {
    for (Die child = die.FirstChild(); child; child = Next(child)) {
      if (!use(child)) return;
    }
  }
  // Returns the entry that has what `die` leaves out: its declaration, or what was inlined.
  [[nodiscard]] Die OriginOf(const Die& die) const {
    for (const int link : {DW_AT_abstract_origin, DW_AT_specification}) {
      const std::optional<Dwarf_Off> offset =
          Attribute(die, static_cast<Dwarf_Half>(link)).Reference();
      if (offset) return At(*offset);
    }
    return Die();
  }
  [[nodiscard]] std::string TextOf(const Die& die, Dwarf_Half number) const {
    std::string text = Attribute(die, number).Text();
    Die origin = OriginOf(die);
    for (int i = 0; text.empty() && origin && i < kMostOrigins; ++i) {
      text = Attribute(origin, number).Text();
      origin = OriginOf(origin);
    }
    return text;
  }

  void ReadUnits();
  template <typename Use>
  void ForEachRange(const Die& die, const Die& unit, Use use) const;
  template <typename Use>
  void ForEachRangeOfList(const Attribute& ranges, const Die& die, const Die& unit, Use use) const;
  void ReadScopes(Unit& unit);
  void ReadScope(Unit& unit, const Die& scope, const std::string& name, int depth);
  void ReadLines(Unit& unit) const;
  std::string FileOf(Unit& unit, std::uint64_t number) const;
  SourcePosition LineAt(Unit& unit, std::uint64_t address);
  SourcePosition CallPosition(Unit& unit, const Die& inlined);
  SourcePosition DeclaredAt(Unit& unit, const Die& die);
  void CollectInlined(const Die& scope, const Unit& unit, std::uint64_t address,
                      std::vector<Die>& chain, int depth) const;
  DebugFunction NameFunction(Unit& unit, const Die& die) const;
  bool ReturnsVoidPointer(const Die& die) const;
  std::optional<std::uint64_t> PlaceOf(const Die& variable) const;

  Sections sections;
  Dwarf_Obj_Access_Interface interface {};
  Dwarf_Debug dwarf = nullptr;
  std::deque<Unit> units;
  RangeMap<Unit*> unit_by_address;
  Clock::duration spent{};  // in search of variables
  bool had_time = true;
};

// Addresses in DWARF count from where the linker wants the image to be.
template <typename Use>
void DwarfReader::Parts::ForEachRangeOfList(const Attribute& ranges, const Die& die,
                                            const Die& unit, Use use) const {
  Dwarf_Half version = 0;
  Dwarf_Half offset_bytes = 0;
  dwarf_get_version_of_die(die.get(), &version, &offset_bytes);
  Dwarf_Half form = 0;
  dwarf_whatform(ranges.get(), &form, Ignored());
  std::optional<Dwarf_Unsigned> value =
      form == DW_FORM_rnglistx ? ranges.Number() : ranges.Reference();
  if (!value) value = ranges.Number();
  if (!value) return;
  if (version >= 5) {
    Dwarf_Rnglists_Head head = nullptr;
    Dwarf_Unsigned count = 0;
    Dwarf_Unsigned place = 0;
    if (dwarf_rnglists_get_rle_head(ranges.get(), form, *value, &head, &count, &place, Ignored()) !=
        DW_DLV_OK) {
      return;
    }
    for (Dwarf_Unsigned i = 0; i < count; ++i) {
      unsigned bytes = 0;
      unsigned kind = 0;
      Dwarf_Unsigned raw[2] = {};
      Dwarf_Unsigned begin = 0;
      Dwarf_Unsigned end = 0;
      Dwarf_Bool is_unknown = false;
      if (dwarf_get_rnglists_entry_fields_a(head, i, &bytes, &kind, &raw[0], &raw[1], &is_unknown,
                                            &begin, &end, Ignored()) != DW_DLV_OK) {
        break;
      }
      const bool is_base = kind == DW_RLE_base_address || kind == DW_RLE_base_addressx;
      if (kind != DW_RLE_end_of_list && !is_base && !is_unknown) use(begin, end);
    }
    dwarf_dealloc_rnglists_head(head);
    return;
  }
  Dwarf_Ranges* list = nullptr;
  Dwarf_Signed count = 0;
  Dwarf_Off place = 0;
  if (dwarf_get_ranges_b(dwarf, *value, die.get(), &place, &list, &count, nullptr, Ignored()) !=
      DW_DLV_OK) {
    return;
  }
  Dwarf_Addr base = 0;
  dwarf_lowpc(unit.get(), &base, Ignored());
  for (Dwarf_Signed i = 0; i < count; ++i) {
    if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION) base = list[i].dwr_addr2;
    if (list[i].dwr_type == DW_RANGES_ENTRY) {
      use(base + list[i].dwr_addr1, base + list[i].dwr_addr2);
    }
  }
  dwarf_ranges_dealloc(dwarf, list, count);
}

template <typename Use>
void DwarfReader::Parts::ForEachRange(const Die& die, const Die& unit, Use use) const {
  const std::uint64_t base = sections.file.image_base();
  const auto use_range = [&](Dwarf_Addr begin, Dwarf_Addr end) {
    if (begin >= base) use(begin - base, end - base);
  };
  const Attribute ranges(die, DW_AT_ranges);
  if (ranges) return ForEachRangeOfList(ranges, die, unit, use_range);
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  Dwarf_Half form = 0;
  Dwarf_Form_Class kind = DW_FORM_CLASS_UNKNOWN;
  if (dwarf_lowpc(die.get(), &begin, Ignored()) != DW_DLV_OK) return;
  if (dwarf_highpc_b(die.get(), &end, &form, &kind, Ignored()) != DW_DLV_OK) return;
  use_range(begin, kind == DW_FORM_CLASS_CONSTANT ? begin + end : end);
}

void DwarfReader::Parts::ReadUnits() {
  while (true) {
    Dwarf_Unsigned header_bytes = 0;
    Dwarf_Half version = 0;
    Dwarf_Off abbreviations = 0;
    Dwarf_Half address_bytes = 0;
    Dwarf_Half length_bytes = 0;
    Dwarf_Half extension_bytes = 0;
    Dwarf_Sig8 signature{};
    Dwarf_Unsigned type_offset = 0;
    Dwarf_Unsigned next = 0;
    Dwarf_Half kind = 0;
    if (dwarf_next_cu_header_d(dwarf, true, &header_bytes, &version, &abbreviations, &address_bytes,
                               &length_bytes, &extension_bytes, &signature, &type_offset, &next,
                               &kind, Ignored()) != DW_DLV_OK) {
      break;
    }
    Dwarf_Die die = nullptr;
    if (dwarf_siblingof_b(dwarf, nullptr, true, &die, Ignored()) != DW_DLV_OK) continue;
    Unit& unit = units.emplace_back();
    unit.die = Die(die);
    unit.directory = Attribute(unit.die, DW_AT_comp_dir).Text();
    ForEachRange(unit.die, unit.die, [&](std::uint64_t begin, std::uint64_t end) {
      unit_by_address.Add(begin, end, &unit);
    });
  }
  unit_by_address.Seal();
}

// Returns the address of a variable that stays at one place; nothing if it does not.
std::optional<std::uint64_t> DwarfReader::Parts::PlaceOf(const Die& variable) const {
  const Attribute location(variable, DW_AT_location);
  Dwarf_Unsigned size = 0;
  Dwarf_Ptr bytes = nullptr;
  Dwarf_Half form = 0;
  if (!location || dwarf_whatform(location.get(), &form, Ignored()) != DW_DLV_OK) {
    return std::nullopt;
  }
  // A local variable may have a list of places instead.
  if (form != DW_FORM_exprloc ||
      dwarf_formexprloc(location.get(), &size, &bytes, Ignored()) != DW_DLV_OK) {
    return std::nullopt;
  }
  const auto* const code = static_cast<const std::uint8_t*>(bytes);
  if (size != 9 || code[0] != DW_OP_addr) return std::nullopt;
  std::uint64_t address = 0;
  for (int i = 8; i >= 1; --i) address = address << 8 | code[i];
  const std::uint64_t base = sections.file.image_base();
  return address >= base ? std::optional(address - base) : std::nullopt;
}

void DwarfReader::Parts::ReadScope(Unit& unit, const Die& scope, const std::string& name,
                                   int depth) {
  if (depth > kMostDepth) return;
  ForEachChild(scope, [&](const Die& child) {
    const Dwarf_Half tag = child.Tag();
    if (tag == DW_TAG_variable) {
      if (const std::optional<std::uint64_t> place = PlaceOf(child)) {
        unit.variables.emplace(*place, child.Offset());
      }
    }
    if (tag != DW_TAG_variable && tag != DW_TAG_member && !IsScope(tag)) return true;
    std::string own = Attribute(child, DW_AT_name).Text();
    if (own.empty() && tag == DW_TAG_namespace) own = "(anonymous namespace)";
    std::string qualified = tag == DW_TAG_lexical_block ? name
                            : own.empty()               ? std::string()
                            : name.empty()              ? own
                                                        : name + "::" + own;
    if (tag == DW_TAG_subprogram) {
      ForEachRange(child, unit.die, [&](std::uint64_t begin, std::uint64_t end) {
        unit.functions.Add(begin, end, child.Offset());
      });
      // A definition of what was declared elsewhere: what it contains is named after that.
      const Die origin = OriginOf(child);
      const auto declared = origin ? unit.names.find(origin.Offset()) : unit.names.end();
      if (declared != unit.names.end()) qualified = declared->second;
    }
    if (IsScope(tag)) ReadScope(unit, child, qualified, depth + 1);
    if (!qualified.empty()) unit.names.emplace(child.Offset(), std::move(qualified));
    return true;
  });
}

void DwarfReader::Parts::ReadScopes(Unit& unit) {
  if (std::exchange(unit.has_functions, true)) return;
  ReadScope(unit, unit.die, "", 0);
  unit.functions.Seal();
}

void DwarfReader::Parts::ReadLines(Unit& unit) const {
  if (unit.has_lines) return;
  unit.has_lines = true;
  Dwarf_Unsigned version = 0;
  Dwarf_Small tables = 0;
  Dwarf_Line_Context context = nullptr;
  if (dwarf_srclines_b(unit.die.get(), &version, &tables, &context, Ignored()) != DW_DLV_OK) return;
  Dwarf_Signed first = 0;
  Dwarf_Signed file_count = 0;
  Dwarf_Signed end_file = 0;
  dwarf_srclines_files_indexes(context, &first, &file_count, &end_file, Ignored());
  for (Dwarf_Signed i = 0; i < end_file; ++i) {
    const char* name = nullptr;
    Dwarf_Unsigned directory = 0;
    const bool is_file =
        i >= first && dwarf_srclines_files_data_b(context, i, &name, &directory, nullptr, nullptr,
                                                  nullptr, Ignored()) == DW_DLV_OK;
    // Before DWARF 5, the folders count from 1, and 0 is the unit's.
    const char* folder = nullptr;
    if (is_file && (version >= 5 || directory != 0)) {
      dwarf_srclines_include_dir_data(context, static_cast<Dwarf_Signed>(directory), &folder,
                                      Ignored());
    }
    const std::string whole = SourcePath(unit.directory.c_str(), folder == nullptr ? "" : folder);
    unit.files.push_back(is_file ? SourcePath(whole.c_str(), name) : std::string());
  }
  Dwarf_Line* lines = nullptr;
  Dwarf_Signed count = 0;
  if (dwarf_srclines_from_linecontext(context, &lines, &count, Ignored()) == DW_DLV_OK) {
    const std::uint64_t base = sections.file.image_base();
    std::uint64_t begin = 0;
    Line row;
    bool has_row = false;
    for (Dwarf_Signed i = 0; i < count; ++i) {
      Dwarf_Addr address = 0;
      Dwarf_Unsigned file = 0;
      Dwarf_Unsigned line = 0;
      Dwarf_Bool is_end = false;
      dwarf_lineaddr(lines[i], &address, Ignored());
      dwarf_line_srcfileno(lines[i], &file, Ignored());
      dwarf_lineno(lines[i], &line, Ignored());
      dwarf_lineendsequence(lines[i], &is_end, Ignored());
      if (address < base) continue;
      if (has_row) unit.lines.Add(begin, address - base, row);
      begin = address - base;
      row = {static_cast<std::uint32_t>(file), static_cast<int>(line)};
      has_row = !is_end;
    }
  }
  unit.lines.Seal();
  dwarf_srclines_dealloc_b(context);
}

std::string DwarfReader::Parts::FileOf(Unit& unit, std::uint64_t number) const {
  ReadLines(unit);
  return number < unit.files.size() ? unit.files[number] : std::string();
}

SourcePosition DwarfReader::Parts::LineAt(Unit& unit, std::uint64_t address) {
  ReadLines(unit);
  const Line* const line = unit.lines.Find(address);
  if (line == nullptr) return {};
  return {FileOf(unit, line->file), line->line};
}

SourcePosition DwarfReader::Parts::CallPosition(Unit& unit, const Die& inlined) {
  const std::optional<Dwarf_Unsigned> file = Attribute(inlined, DW_AT_call_file).Number();
  const std::optional<Dwarf_Unsigned> line = Attribute(inlined, DW_AT_call_line).Number();
  return {file ? FileOf(unit, *file) : std::string(), static_cast<int>(line.value_or(0))};
}

SourcePosition DwarfReader::Parts::DeclaredAt(Unit& unit, const Die& die) {
  const std::optional<Dwarf_Unsigned> file = Attribute(die, DW_AT_decl_file).Number();
  const std::optional<Dwarf_Unsigned> line = Attribute(die, DW_AT_decl_line).Number();
  if (!file || !line) return {};
  return {FileOf(unit, *file), static_cast<int>(*line)};
}

void DwarfReader::Parts::CollectInlined(const Die& scope, const Unit& unit, std::uint64_t address,
                                        std::vector<Die>& chain, int depth) const {
  if (depth > kMostDepth) return;
  ForEachChild(scope, [&](Die& child) {
    const Dwarf_Half tag = child.Tag();
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) return true;
    bool has_address = false;
    ForEachRange(child, unit.die, [&](std::uint64_t begin, std::uint64_t end) {
      has_address = has_address || (address >= begin && address < end);
    });
    // GCC leaves out the range of a block whose inlined functions lie apart from it.
    if (!has_address && tag == DW_TAG_inlined_subroutine) return true;
    const std::size_t before = chain.size();
    const Dwarf_Off offset = child.Offset();
    if (tag == DW_TAG_inlined_subroutine) chain.push_back(At(offset));
    if (chain.size() != before && !chain.back()) return chain.pop_back(), false;
    CollectInlined(child, unit, address, chain, depth + 1);
    return chain.size() == before;
  });
}

DebugFunction DwarfReader::Parts::NameFunction(Unit& unit, const Die& die) const {
  DebugFunction function;
  function.linkage_name = TextOf(die, DW_AT_linkage_name);
  const bool is_readable = Demangle(function.linkage_name) != function.linkage_name;
  if (is_readable) return function;
  Dwarf_Off offset = die.Offset();
  Die origin = OriginOf(die);
  for (int i = 0; origin && i < kMostOrigins; ++i) {
    offset = origin.Offset();
    origin = OriginOf(origin);
  }
  const auto name = unit.names.find(offset);
  function.name = name != unit.names.end() ? name->second : TextOf(die, DW_AT_name);
  return function;
}

bool DwarfReader::Parts::ReturnsVoidPointer(const Die& die) const {
  std::optional<Dwarf_Off> type = Attribute(die, DW_AT_type).Reference();
  Die origin = OriginOf(die);
  for (int i = 0; !type && origin && i < kMostOrigins; ++i) {
    type = Attribute(origin, DW_AT_type).Reference();
    origin = OriginOf(origin);
  }
  const Die pointer = type ? At(*type) : Die();
  return pointer && pointer.Tag() == DW_TAG_pointer_type && !Attribute(pointer, DW_AT_type);
}

DwarfReader::DwarfReader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DwarfReader::~DwarfReader() = default;

std::unique_ptr<DwarfReader> DwarfReader::Open(const PeFile& file) {
  if (file.Contents(".debug_info").empty()) return nullptr;
  auto parts = std::make_unique<Parts>(file);
  parts->interface = {&parts->sections, &kMethods};
  if (dwarf_object_init_b(&parts->interface, nullptr, nullptr, DW_GROUPNUMBER_ANY, &parts->dwarf,
                          Ignored()) != DW_DLV_OK) {
    return nullptr;
  }
  parts->ReadUnits();
  return std::unique_ptr<DwarfReader>(new DwarfReader(std::move(parts)));
}

std::vector<DebugFunction> DwarfReader::FunctionsAt(std::uint64_t address) {
  Parts::Unit* const* const found = parts_->unit_by_address.Find(address);
  if (found == nullptr) return {};
  Parts::Unit& unit = **found;
  parts_->ReadScopes(unit);
  std::vector<Die> chain;  // outermost first
  if (const Dwarf_Off* const function = unit.functions.Find(address)) {
    chain.push_back(parts_->At(*function));
    if (!chain.back()) return {};
    parts_->CollectInlined(chain.front(), unit, address, chain, 0);
  }
  SourcePosition position = parts_->LineAt(unit, address);
  if (chain.empty()) return {DebugFunction{{}, {}, position}};
  std::vector<DebugFunction> functions;
  for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
    DebugFunction& function = functions.emplace_back(parts_->NameFunction(unit, *die));
    function.position = position;
    position = parts_->CallPosition(unit, *die);
  }
  parts_->ForEachRange(chain.front(), unit.die, [&](std::uint64_t begin, std::uint64_t end) {
    if (address >= begin && address < end) functions.back().begin = begin;
  });
  functions.back().returns_void_pointer = parts_->ReturnsVoidPointer(chain.front());
  return functions;
}

bool DwarfReader::HadTime() const { return parts_->had_time; }

std::optional<Variable> DwarfReader::VariableAt(std::uint64_t address) {
  for (Parts::Unit& unit : parts_->units) {
    if (!unit.has_functions) {
      if (parts_->spent >= kPatience) {
        parts_->had_time = false;
        return std::nullopt;
      }
      const Clock::time_point begin = Clock::now();
      parts_->ReadScopes(unit);
      parts_->spent += Clock::now() - begin;
    }
    const auto found = unit.variables.find(address);
    if (found == unit.variables.end()) continue;
    Die die = parts_->At(found->second);
    for (int i = 0; die && i < kMostOrigins; ++i) {
      const auto name = unit.names.find(die.Offset());
      Die origin = parts_->OriginOf(die);
      if (!origin && name != unit.names.end()) {
        return Variable{name->second, parts_->DeclaredAt(unit, die)};
      }
      die = std::move(origin);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

void DwarfReader::ForEachUnit(
    const std::function<void(const std::string&, const std::string&)>& use) {
  for (const Parts::Unit& unit : parts_->units) {
    use(Attribute(unit.die, DW_AT_name).Text(), unit.directory);
  }
}

bool DwarfReader::HasLines() {
  return std::any_of(parts_->units.begin(), parts_->units.end(), [&](Parts::Unit& unit) {
    parts_->ReadLines(unit);
    return !unit.files.empty();
  });
}

std::string DwarfLibraryVersion() { return fmt::format("libdwarf {}", dwarf_package_version()); }

}  // namespace leakgate
