#include "runner/symbols/elf/unit_entries.h"

#include <dwarf.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace leakgate {
namespace {

// The sizes that a unit's header gives.
struct UnitShape {
  std::uint8_t address_bytes = 0;
  std::uint8_t offset_bytes = 0;
  Dwarf_Half version = 0;
};

// How to step over the value of one attribute.
enum class Step : std::uint8_t {
  kFixed,   // a fixed number of bytes
  kLeb,     // a number of any length
  kText,    // up to a zero
  kBlock1,  // a length, and as many bytes
  kBlock2,
  kBlock4,
  kBlockLeb,
};

struct AttributeStep {
  Step step;
  std::uint8_t bytes = 0;  // of Step::kFixed
  bool is_location = false;
};

// What all entries of one abbreviation have in common.
struct Shape {
  bool is_function = false;  // with machine code
  bool is_variable = false;  // with a location
  bool is_fixed = false;     // then `bytes` is the size of all attributes
  std::uint32_t bytes = 0;
  std::vector<AttributeStep> steps{};
};

std::optional<AttributeStep> StepOver(unsigned form, const UnitShape& unit) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return AttributeStep{Step::kFixed, 0};
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return AttributeStep{Step::kFixed, 1};
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return AttributeStep{Step::kFixed, 2};
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return AttributeStep{Step::kFixed, 3};
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return AttributeStep{Step::kFixed, 4};
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8:
      return AttributeStep{Step::kFixed, 8};
    case DW_FORM_data16:
      return AttributeStep{Step::kFixed, 16};
    case DW_FORM_addr:
      return AttributeStep{Step::kFixed, unit.address_bytes};
    case DW_FORM_ref_addr:
      return AttributeStep{Step::kFixed, unit.version < 3 ? unit.address_bytes : unit.offset_bytes};
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return AttributeStep{Step::kFixed, unit.offset_bytes};
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      return AttributeStep{Step::kLeb};
    case DW_FORM_string:
      return AttributeStep{Step::kText};
    case DW_FORM_block1:
      return AttributeStep{Step::kBlock1};
    case DW_FORM_block2:
      return AttributeStep{Step::kBlock2};
    case DW_FORM_block4:
      return AttributeStep{Step::kBlock4};
    case DW_FORM_block:
    case DW_FORM_exprloc:
      return AttributeStep{Step::kBlockLeb};
    default:
      return std::nullopt;
  }
}

// Reads within the unit. Once a read has failed, all later ones fail.
class EntryCursor {
 public:
  explicit EntryCursor(std::span<const std::uint8_t> unit) : rest_(unit) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const std::uint8_t* position() const { return rest_.data(); }

  void Skip(std::uint64_t bytes) { (void)Take(bytes); }

  std::uint64_t ReadLeb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !failed_; shift += 7) {
      const std::span<const std::uint8_t> byte = Take(1);
      if (byte.empty()) break;
      if (shift < 64) value |= std::uint64_t{byte[0] & 0x7FU} << shift;
      if ((byte[0] & 0x80U) == 0) break;
    }
    return value;
  }

  template <typename Number>
  std::uint64_t Read() {
    Number number = 0;
    const std::span<const std::uint8_t> bytes = Take(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  // Returns the bytes of a block; nothing for other values.
  std::span<const std::uint8_t> StepOver(const AttributeStep& step) {
    switch (step.step) {
      case Step::kFixed:
        Skip(step.bytes);
        return {};
      case Step::kLeb:
        (void)ReadLeb();
        return {};
      case Step::kText:
        SkipText();
        return {};
      case Step::kBlock1:
        return Take(Read<std::uint8_t>());
      case Step::kBlock2:
        return Take(Read<std::uint16_t>());
      case Step::kBlock4:
        return Take(Read<std::uint32_t>());
      case Step::kBlockLeb:
        return Take(ReadLeb());
    }
    return {};
  }

 private:
  std::span<const std::uint8_t> Take(std::uint64_t bytes) {
    failed_ = failed_ || bytes > rest_.size();
    if (failed_) return {};
    const std::span<const std::uint8_t> taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  void SkipText() {
    const void* const end = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
    failed_ = failed_ || end == nullptr;
    if (failed_) return;
    Skip(static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(end) - rest_.data()) + 1);
  }

  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

// The abbreviations of one unit, by their codes, which compilers number from 1 on.
class Shapes {
 public:
  // Returns false if one of them contains something unknown.
  bool Read(Dwarf_Die unit, const UnitShape& shape) {
    Dwarf_Off offset = 0;
    std::size_t length = 0;
    for (;; offset += length) {
      Dwarf_Abbrev* const abbrev = dwarf_getabbrev(&unit, offset, &length);
      if (abbrev == DWARF_END_ABBREV) return true;
      const unsigned code = abbrev == nullptr ? 0 : dwarf_getabbrevcode(abbrev);
      if (code == 0 || code > kMostCodes || length == 0) return false;
      if (shapes_.size() <= code) shapes_.resize(code + 1);
      if (!Add(abbrev, shape, shapes_[code].emplace())) return false;
    }
  }

  // Returns null if there is none.
  [[nodiscard]] const Shape* Find(std::uint64_t code) const {
    return code < shapes_.size() && shapes_[code] ? &*shapes_[code] : nullptr;
  }

 private:
  static constexpr unsigned kMostCodes = 1U << 16;

  static bool Add(Dwarf_Abbrev* abbrev, const UnitShape& unit, Shape& shape) {
    bool has_code = false;
    bool has_location = false;
    shape.is_fixed = true;
    unsigned name = 0;
    unsigned form = 0;
    Dwarf_Off ignored = 0;
    // It fails after the last one. dwarf_getattrcnt counts constants of the abbreviation itself as
    // attributes (elfutils 0.188).
    for (std::size_t i = 0; dwarf_getabbrevattr(abbrev, i, &name, &form, &ignored) == 0; ++i) {
      std::optional<AttributeStep> step = StepOver(form, unit);
      if (!step) return false;
      step->is_location = name == DW_AT_location && form == DW_FORM_exprloc;
      has_location = has_location || step->is_location;
      has_code = has_code || name == DW_AT_low_pc || name == DW_AT_ranges;
      shape.is_fixed = shape.is_fixed && step->step == Step::kFixed;
      shape.bytes += step->bytes;
      shape.steps.push_back(*step);
    }
    const unsigned tag = dwarf_getabbrevtag(abbrev);
    shape.is_function = tag == DW_TAG_subprogram && has_code;
    shape.is_variable = tag == DW_TAG_variable && has_location;
    return true;
  }

  std::vector<std::optional<Shape>> shapes_;
};

// Returns whether an expression begins like those of variables that stay at one place: with an
// address, or an offset in thread-local storage. Others begin with a register, or the frame of
// their function.
bool IsFixedPlace(std::span<const std::uint8_t> location) {
  if (location.empty()) return false;
  switch (location.front()) {
    case DW_OP_addr:
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<UnitEntries> FindEntries(Dwarf_Die unit) {
  // A unit's first entry follows its header.
  const Dwarf_Off unit_entry = dwarf_dieoffset(&unit);
  const Dwarf_Off header = unit_entry - dwarf_cuoffset(&unit);
  std::size_t header_bytes = 0;
  Dwarf_Off end = 0;
  UnitShape shape;
  const bool is_known =
      dwarf_next_unit(dwarf_cu_getdwarf(unit.cu), header, &end, &header_bytes, &shape.version,
                      nullptr, &shape.address_bytes, &shape.offset_bytes, nullptr, nullptr) == 0;
  if (!is_known || header + header_bytes != unit_entry || end <= unit_entry) return std::nullopt;
  Shapes shapes;
  if (!shapes.Read(unit, shape)) return std::nullopt;

  // libdw has the whole section in memory, unpacked, and an entry refers to its own bytes.
  const auto* const bytes = static_cast<const std::uint8_t*>(unit.addr);
  EntryCursor cursor({bytes, end - unit_entry});
  UnitEntries found;
  while (!cursor.at_end()) {
    const Dwarf_Off offset = unit_entry + static_cast<Dwarf_Off>(cursor.position() - bytes);
    const std::uint64_t code = cursor.ReadLeb();
    if (code == 0) continue;  // the end of an entry's children
    const Shape* const entry = shapes.Find(code);
    if (entry == nullptr) return std::nullopt;
    if (entry->is_function) found.functions.push_back(offset);
    if (entry->is_fixed && !entry->is_variable) {
      cursor.Skip(entry->bytes);
    } else {
      for (const AttributeStep& step : entry->steps) {
        const std::span<const std::uint8_t> block = cursor.StepOver(step);
        if (entry->is_variable && step.is_location && IsFixedPlace(block)) {
          found.variables.push_back(offset);
        }
      }
    }
    if (cursor.failed()) return std::nullopt;
  }
  return found;
}

}  // namespace leakgate
