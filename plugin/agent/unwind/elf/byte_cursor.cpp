#include "plugin/agent/unwind/elf/byte_cursor.h"

namespace leakgate::agent {
namespace {

// DW_EH_PE_*: Linux Standard Base, "DWARF Extensions".
constexpr std::uint8_t kOmit = 0xFF;
constexpr std::uint8_t kFormatMask = 0x0F;
constexpr std::uint8_t kRelationMask = 0x70;
constexpr std::uint8_t kPcRelative = 0x10;
constexpr std::uint8_t kDataRelative = 0x30;

std::uint64_t SignExtended(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::uint64_t ReadFormat(ByteCursor& cursor, std::uint8_t format) {
  switch (format) {
    case 0x00:
    case 0x04:
      return cursor.Read<std::uint64_t>();
    case 0x01:
      return cursor.ReadUleb();
    case 0x02:
      return cursor.Read<std::uint16_t>();
    case 0x03:
      return cursor.Read<std::uint32_t>();
    case 0x09:
      return SignExtended(cursor.ReadSleb());
    case 0x0A:
      return SignExtended(cursor.Read<std::int16_t>());
    case 0x0B:
      return SignExtended(cursor.Read<std::int32_t>());
    case 0x0C:
      return cursor.Read<std::uint64_t>();
    default:
      cursor.Fail();
      return 0;
  }
}

}  // namespace

std::uint64_t ByteCursor::ReadEncoded(std::uint8_t encoding, std::uint64_t data_base) {
  if (encoding == kOmit) return 0;

  const auto field = reinterpret_cast<std::uint64_t>(at_);
  const std::uint64_t value = ReadFormat(*this, encoding & kFormatMask);
  if (value == 0) return 0;

  switch (encoding & kRelationMask) {
    case 0:
      return value;
    case kPcRelative:
      return value + field;
    case kDataRelative:
      return value + data_base;
    default:
      Fail();
      return 0;
  }
}

}  // namespace leakgate::agent
