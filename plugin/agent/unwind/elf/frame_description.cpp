#include "plugin/agent/unwind/elf/frame_description.h"

#include <cstring>

#include "plugin/agent/unwind/elf/byte_cursor.h"

namespace leakgate::agent {
namespace {

constexpr std::uint8_t kHeaderVersion = 1;
constexpr std::uint8_t kUnsigned4 = 0x03;            // DW_EH_PE_udata4
constexpr std::uint8_t kDataRelativeSigned4 = 0x3B;  // DW_EH_PE_datarel | sdata4
constexpr std::uint32_t kLongLength = 0xFFFF'FFFF;

// One entry of the search table, both relative to the header.
struct TableEntry {
  std::int32_t function;
  std::int32_t description;
};

// A length-prefixed record of .eh_frame.
struct Record {
  const std::uint8_t* id_field = nullptr;
  const std::uint8_t* end = nullptr;
};

bool ReadRecord(const std::uint8_t* at, const std::uint8_t* limit, Record& record) {
  ByteCursor cursor(at, limit);
  std::uint64_t length = cursor.Read<std::uint32_t>();
  if (length == kLongLength) length = cursor.Read<std::uint64_t>();
  if (cursor.failed() || length == 0) return false;
  if (length > static_cast<std::uint64_t>(limit - cursor.position())) return false;

  record = {cursor.position(), cursor.position() + length};
  return true;
}

TableEntry EntryAt(const std::uint8_t* table, std::uint32_t index) {
  TableEntry entry;
  std::memcpy(&entry, table + std::uint64_t{index} * sizeof(entry), sizeof(entry));
  return entry;
}

// How many of the entries begin at or before `relative_pc`.
std::uint32_t CountUpTo(std::int64_t relative_pc, const std::uint8_t* table, std::uint32_t count) {
  std::uint32_t low = 0;
  std::uint32_t high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (EntryAt(table, middle).function <= relative_pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

DescriptionStatus FindRecord(const FrameSection& section, std::uint64_t pc, Record& record) {
  if (!section.Has(section.header, 0)) return DescriptionStatus::kMalformed;
  ByteCursor cursor(section.header, section.end);
  const auto version = cursor.Read<std::uint8_t>();
  const auto frame_encoding = cursor.Read<std::uint8_t>();
  const auto count_encoding = cursor.Read<std::uint8_t>();
  const auto table_encoding = cursor.Read<std::uint8_t>();
  const auto header = reinterpret_cast<std::uint64_t>(section.header);
  cursor.ReadEncoded(frame_encoding, header);
  if (cursor.failed() || version != kHeaderVersion) return DescriptionStatus::kMalformed;
  if (count_encoding != kUnsigned4 || table_encoding != kDataRelativeSigned4) {
    return DescriptionStatus::kMalformed;
  }

  const auto count = cursor.Read<std::uint32_t>();
  const std::uint8_t* const table = cursor.position();
  cursor.Skip(std::uint64_t{count} * sizeof(TableEntry));
  if (cursor.failed()) return DescriptionStatus::kMalformed;

  const std::uint32_t before = CountUpTo(static_cast<std::int64_t>(pc - header), table, count);
  if (before == 0) return DescriptionStatus::kNone;
  const std::int32_t at = EntryAt(table, before - 1).description;
  if (!section.Has(section.header, at)) return DescriptionStatus::kMalformed;
  return ReadRecord(section.header + at, section.end, record) ? DescriptionStatus::kFound
                                                              : DescriptionStatus::kMalformed;
}

// Reads what the letters of a CIE's augmentation mean.
bool ReadAugmentation(const char* letters, ByteCursor& cursor, FrameDescription& found) {
  found.pointer_encoding = 0;
  if (*letters == '\0') return true;
  if (*letters != 'z') return false;
  found.has_augmentation_length = true;

  const std::uint64_t length = cursor.ReadUleb();
  const std::uint8_t* const begin = cursor.position();
  for (++letters; *letters != '\0'; ++letters) {
    if (*letters == 'R') {
      found.pointer_encoding = cursor.Read<std::uint8_t>();
    } else if (*letters == 'P') {
      const auto encoding = cursor.Read<std::uint8_t>();
      cursor.ReadEncoded(encoding);
    } else if (*letters == 'L') {
      cursor.Read<std::uint8_t>();
    } else if (*letters == 'S') {
      found.is_signal_frame = true;
    } else if (*letters == 'B' || *letters == 'G') {
      // On aarch64: the return address is signed by the other key; the frame's memory has tags.
    } else {
      break;  // the length skips unknown parts
    }
  }
  const auto read = static_cast<std::uint64_t>(cursor.position() - begin);
  if (cursor.failed() || read > length) return false;
  cursor.Skip(length - read);
  return true;
}

bool ReadCommonEntry(const std::uint8_t* at, const std::uint8_t* limit, FrameDescription& found) {
  Record record;
  if (!ReadRecord(at, limit, record)) return false;

  ByteCursor cursor(record.id_field, record.end);
  if (cursor.Read<std::uint32_t>() != 0) return false;  // an FDE, not a CIE
  const auto version = cursor.Read<std::uint8_t>();
  if (version != 1 && version != 3) return false;

  const auto* const letters = reinterpret_cast<const char*>(cursor.position());
  while (cursor.Read<std::uint8_t>() != 0) {
    if (cursor.failed()) return false;
  }
  found.code_alignment = cursor.ReadUleb();
  found.data_alignment = cursor.ReadSleb();
  found.return_address_register = version == 1 ? cursor.Read<std::uint8_t>() : cursor.ReadUleb();
  if (cursor.failed() || !ReadAugmentation(letters, cursor, found)) return false;

  found.initial_begin = cursor.position();
  found.initial_end = record.end;
  return !cursor.failed();
}

bool ReadDescription(const FrameSection& section, const Record& record, FrameDescription& found) {
  ByteCursor cursor(record.id_field, record.end);
  const auto distance = cursor.Read<std::uint32_t>();
  if (cursor.failed() || distance == 0) return false;
  if (!section.Has(record.id_field, -std::int64_t{distance})) return false;
  if (!ReadCommonEntry(record.id_field - distance, section.end, found)) return false;

  found.pc_begin = cursor.ReadEncoded(found.pointer_encoding);
  constexpr std::uint8_t kFormatOnly = 0x0F;
  found.pc_end = found.pc_begin + cursor.ReadEncoded(found.pointer_encoding & kFormatOnly);
  if (found.has_augmentation_length) cursor.Skip(cursor.ReadUleb());
  found.program_begin = cursor.position();
  found.program_end = record.end;
  return !cursor.failed();
}

}  // namespace

DescriptionStatus FindFrameDescription(const FrameSection& section, std::uint64_t pc,
                                       FrameDescription& found) {
  if (section.header == nullptr) return DescriptionStatus::kNone;

  Record record;
  const DescriptionStatus status = FindRecord(section, pc, record);
  if (status != DescriptionStatus::kFound) return status;
  if (!ReadDescription(section, record, found)) return DescriptionStatus::kMalformed;
  return pc >= found.pc_begin && pc < found.pc_end ? DescriptionStatus::kFound
                                                   : DescriptionStatus::kNone;
}

}  // namespace leakgate::agent
