#include "runner/etw/file/etl_layout.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

using Bytes = std::span<const std::byte>;

constexpr EventProvider kHeapSnapshotProvider = {
    0x901d2afa, 0x4ff6, 0x46d7, {0x8d, 0x0e, 0x53, 0x64, 0x5e, 0x1a, 0x47, 0xf5}};

constexpr std::uint16_t kLostEvents = 0x02;  // flags of a buffer
constexpr std::uint16_t kLostBuffers = 0x04;
constexpr std::uint16_t kCompressed = 0x40;

constexpr std::uint8_t kOldestKnown = 2;  // version of events about processes and modules

constexpr std::uint8_t kTraceMark = 0x80;  // each record has it
constexpr std::uint8_t kEventMark = 0xc0;
constexpr std::uint32_t kNoRecord = 0xffffffff;  // what follows the last record

// REQUIRES: `bytes` has them.
template <typename Number>
Number NumberAt(Bytes bytes, std::size_t at) {
  Number number = 0;  // of a little-endian system, as this one is
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

std::uint64_t PointerAt(Bytes bytes, std::size_t at, std::uint8_t pointer_bytes) {
  return pointer_bytes == 8 ? NumberAt<std::uint64_t>(bytes, at)
                            : NumberAt<std::uint32_t>(bytes, at);
}

// How the header of an event is laid out, by the record's kind.
enum class HeaderLayout { kUnknown, kSystem, kCompact, kPerformance, kFull, kNew };
struct HeaderKind {
  HeaderLayout layout = HeaderLayout::kUnknown;
  std::size_t bytes = 4;
  std::uint8_t pointer_bytes = 8;
};

HeaderKind KindOf(std::uint8_t mark, std::uint8_t kind) {
  if (mark != kEventMark) return {};
  switch (kind) {
    case 1:
    case 2:
      return {HeaderLayout::kSystem, 32, static_cast<std::uint8_t>(kind == 1 ? 4 : 8)};
    case 3:
    case 4:
      return {HeaderLayout::kCompact, 24, static_cast<std::uint8_t>(kind == 3 ? 4 : 8)};
    case 16:
    case 17:
      return {HeaderLayout::kPerformance, 16, static_cast<std::uint8_t>(kind == 16 ? 4 : 8)};
    case 10:
    case 20:
      return {HeaderLayout::kFull, 48, static_cast<std::uint8_t>(kind == 10 ? 4 : 8)};
    case 18:
    case 19:
      return {HeaderLayout::kNew, 80, static_cast<std::uint8_t>(kind == 18 ? 4 : 8)};
    default:
      return {};
  }
}

bool IsOfSystem(HeaderLayout layout) {
  return layout == HeaderLayout::kSystem || layout == HeaderLayout::kCompact ||
         layout == HeaderLayout::kPerformance;
}

// The version of an event of the system says how many numbers of 8 bytes follow the header.
std::size_t ExtraBytes(std::uint16_t version) {
  return 8 * std::size_t{(version & 0x8000U) != 0} + 8 * ((version & 0x0700U) >> 8U);
}

// Of the events about modules; nothing if it is another one.
std::optional<EtlModuleChange> ChangeOf(std::uint8_t opcode) {
  switch (opcode) {
    case 2:
      return EtlModuleChange::kUnloaded;
    case 3:  // as the recording begins
    case 4:  // as it ends
      return EtlModuleChange::kThere;
    case 10:
      return EtlModuleChange::kLoaded;
    default:
      return std::nullopt;
  }
}

EtlGroup GroupOf(std::uint8_t group, std::uint8_t opcode) {
  constexpr std::uint8_t kStarts = 1;
  switch (group) {
    case 0x00:
      return opcode == 0 ? EtlGroup::kFile : EtlGroup::kOther;
    case 0x03:
      return opcode == kStarts ? EtlGroup::kProcessStart : EtlGroup::kOther;
    case 0x10:
      return EtlGroup::kHeap;
    case 0x14:
      return ChangeOf(opcode) ? EtlGroup::kModule : EtlGroup::kOther;
    case 0x18:
      return EtlGroup::kStack;
    default:
      return EtlGroup::kOther;
  }
}

EtlGroup GroupOf(const EventProvider& provider) {
  if (provider == kHeapProvider) return EtlGroup::kHeap;
  if (provider == kStackProvider) return EtlGroup::kStack;
  return provider == kHeapSnapshotProvider ? EtlGroup::kHeapSnapshot : EtlGroup::kOther;
}

EventProvider ProviderAt(Bytes record, std::size_t at) {
  EventProvider provider = {NumberAt<std::uint32_t>(record, at),
                            NumberAt<std::uint16_t>(record, at + 4),
                            NumberAt<std::uint16_t>(record, at + 6),
                            {}};
  std::memcpy(provider.rest.data(), record.data() + at + 8, provider.rest.size());
  return provider;
}

void ReadThread(Bytes record, TraceEvent& event) {
  event.thread = NumberAt<std::uint32_t>(record, 8);
  event.process = NumberAt<std::uint32_t>(record, 12);
  event.time = NumberAt<std::uint64_t>(record, 16);
}

// REQUIRES: the record has its whole header, and what its version adds.
EtlRecord RecordOf(Bytes record, const HeaderKind& kind) {
  EtlRecord read;
  read.has_time = kind.layout != HeaderLayout::kUnknown;
  read.event.pointer_bytes = kind.pointer_bytes;
  read.event.payload = record.subspan(kind.bytes);
  if (IsOfSystem(kind.layout)) {
    read.version = NumberAt<std::uint8_t>(record, 0);
    read.event.opcode = NumberAt<std::uint8_t>(record, 6);
    read.group = GroupOf(NumberAt<std::uint8_t>(record, 7), read.event.opcode);
    if (read.group == EtlGroup::kHeap) read.event.provider = kHeapProvider;
    if (read.group == EtlGroup::kStack) read.event.provider = kStackProvider;
    read.has_process = kind.layout != HeaderLayout::kPerformance;
    if (read.has_process) {
      ReadThread(record, read.event);
    } else {
      read.event.time = NumberAt<std::uint64_t>(record, 8);
    }
  } else if (kind.layout != HeaderLayout::kUnknown) {
    const bool is_full = kind.layout == HeaderLayout::kFull;
    read.event.provider = ProviderAt(record, 24);
    read.event.opcode = NumberAt<std::uint8_t>(record, is_full ? 4 : 45);
    read.group = GroupOf(read.event.provider);
    ReadThread(record, read.event);
  }
  return read;
}

// The name of a file, up to a unit that is 0.
std::string NameAt(Bytes bytes) {
  std::u16string units;
  for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) {
    const auto unit = static_cast<char16_t>(NumberAt<std::uint16_t>(bytes, at));
    if (unit == 0) break;
    units = unit == u'\\' ? u"" : units + unit;
  }
  try {
    return PathText(std::filesystem::path(units));
  } catch (const std::filesystem::filesystem_error&) {  // a half of a pair
    std::string ascii;
    for (const char16_t unit : units) ascii += unit < 0x80 ? static_cast<char>(unit) : '?';
    return ascii;
  }
}

}  // namespace

std::optional<EtlBuffer> ReadEtlBuffer(std::span<const std::byte, kEtlHeaderBytes> header,
                                       std::uint64_t offset) {
  EtlBuffer buffer = {.offset = offset, .size = NumberAt<std::uint32_t>(header, 0)};
  const auto used = NumberAt<std::uint32_t>(header, 48);
  const auto flags = NumberAt<std::uint16_t>(header, 52);
  buffer.has_lost_events = (flags & kLostEvents) != 0;
  buffer.has_lost_buffers = (flags & kLostBuffers) != 0;
  buffer.is_compressed = (flags & kCompressed) != 0;
  if (buffer.size < kEtlHeaderBytes || buffer.size > kMostEtlBufferBytes) return std::nullopt;
  // Of a compressed buffer, what is used is told as it was before.
  if (used < kEtlHeaderBytes || (used > buffer.size && !buffer.is_compressed)) return std::nullopt;
  buffer.used = std::min(used, buffer.size);
  return buffer;
}

std::optional<EtlRecord> EtlRecordReader::Next() {
  if (rest_.size() < 8) return std::nullopt;
  const auto marker = NumberAt<std::uint32_t>(rest_, 0);
  if (marker == 0 || marker == kNoRecord) return std::nullopt;
  const auto mark = NumberAt<std::uint8_t>(rest_, 3);
  HeaderKind kind = KindOf(mark, NumberAt<std::uint8_t>(rest_, 2));
  const bool is_of_system = IsOfSystem(kind.layout);
  const auto version = NumberAt<std::uint16_t>(rest_, 0);
  if (is_of_system) kind.bytes += ExtraBytes(version);
  const std::size_t size = NumberAt<std::uint16_t>(rest_, is_of_system ? 4 : 0);
  if ((mark & kTraceMark) == 0 || size < kind.bytes || size > rest_.size()) {
    is_broken_ = true;
    return std::nullopt;
  }
  const EtlRecord record = RecordOf(rest_.first(size), kind);
  rest_ = rest_.subspan(std::min((size + 7) / 8 * 8, rest_.size()));
  return record;
}

std::optional<EtlFileFacts> ReadEtlFileFacts(const TraceEvent& event) {
  constexpr std::size_t kBuffers = 36;
  constexpr std::size_t kLostEventCount = 48;
  // Behind two pointers, the time zone, three times and the flags.
  const std::size_t lost_buffers = 56 + 2 * std::size_t{event.pointer_bytes} + 176 + 24 + 4;
  if (event.payload.size() < lost_buffers + 4) return std::nullopt;
  return EtlFileFacts{NumberAt<std::uint32_t>(event.payload, kBuffers),
                      NumberAt<std::uint32_t>(event.payload, kLostEventCount),
                      NumberAt<std::uint32_t>(event.payload, lost_buffers)};
}

std::optional<EtlModule> ReadEtlModule(const EtlRecord& record) {
  const Bytes payload = record.event.payload;
  const std::uint8_t pointer = record.event.pointer_bytes;
  const std::optional<EtlModuleChange> change = ChangeOf(record.event.opcode);
  // Two pointers, four numbers, a pointer, four numbers.
  const std::size_t name = 3 * std::size_t{pointer} + 32;
  if (!change || record.version < kOldestKnown || payload.size() < name) return std::nullopt;
  return EtlModule{.change = *change,
                   .begin = PointerAt(payload, 0, pointer),
                   .bytes = PointerAt(payload, pointer, pointer),
                   .process = NumberAt<std::uint32_t>(payload, 2 * std::size_t{pointer}),
                   .name = NameAt(payload.subspan(name))};
}

std::optional<std::uint32_t> ReadEtlProcessStart(const EtlRecord& record) {
  const std::size_t at = record.event.pointer_bytes;  // behind a pointer
  if (record.version < kOldestKnown || record.event.payload.size() < at + 4) return std::nullopt;
  return NumberAt<std::uint32_t>(record.event.payload, at);
}

std::optional<EtlStackOwner> ReadEtlStackOwner(const TraceEvent& event) {
  if (event.payload.size() < 16) return std::nullopt;
  return EtlStackOwner{NumberAt<std::uint64_t>(event.payload, 0),
                       NumberAt<std::uint32_t>(event.payload, 8),
                       NumberAt<std::uint32_t>(event.payload, 12)};
}

}  // namespace leakgate
