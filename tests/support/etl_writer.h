// Writes .etl files: buffers, and records in them, as Windows lays them out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runner/etw/file/read_etl.h"
#include "tests/support/trace_events.h"

namespace leakgate::test {

using EtlBytes = std::vector<std::byte>;

inline void AppendNumber(EtlBytes& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t byte = 0; byte < size; ++byte) {
    bytes.push_back(static_cast<std::byte>(number >> (8 * byte)));
  }
}

// A record of an event of the system, with a whole header, a compact one, or one without process.
enum class EtlHeader : std::uint8_t { kWhole = 2, kCompact = 4, kPerformance = 17 };

inline EtlBytes RecordOf(const TraceEvent& event, std::uint8_t group, EtlHeader header,
                         std::uint8_t version = 2) {
  const bool is_64 = event.pointer_bytes == 8;
  const std::size_t header_bytes = header == EtlHeader::kWhole     ? 32
                                   : header == EtlHeader::kCompact ? 24
                                                                   : 16;
  EtlBytes record;
  AppendNumber(record, version, 2);
  AppendNumber(record, static_cast<std::uint8_t>(header) - (is_64 ? 0U : 1U), 1);
  AppendNumber(record, 0xc0, 1);
  AppendNumber(record, header_bytes + event.payload.size(), 2);
  AppendNumber(record, event.opcode, 1);
  AppendNumber(record, group, 1);
  if (header != EtlHeader::kPerformance) {
    AppendNumber(record, event.thread, 4);
    AppendNumber(record, event.process, 4);
  }
  AppendNumber(record, event.time, 8);
  if (header == EtlHeader::kWhole) AppendNumber(record, 0, 8);
  record.insert(record.end(), event.payload.begin(), event.payload.end());
  return record;
}

inline EtlBytes RecordOf(const MadeEvent& made, EtlHeader header = EtlHeader::kWhole) {
  return RecordOf(made.Get(), made.event.provider == kHeapProvider ? 0x10 : 0x18, header);
}

// The first record of a file.
inline EtlBytes FileRecord(std::uint32_t buffers, std::uint32_t lost_events,
                           std::uint32_t lost_buffers) {
  EtlBytes payload(280);
  std::memcpy(payload.data() + 36, &buffers, 4);
  std::memcpy(payload.data() + 48, &lost_events, 4);
  std::memcpy(payload.data() + 276, &lost_buffers, 4);
  return RecordOf(TraceEvent{.payload = payload}, 0, EtlHeader::kWhole);
}

inline constexpr std::uint8_t kModuleUnloaded = 2;
inline constexpr std::uint8_t kModuleAtBegin = 3;  // of the recording
inline constexpr std::uint8_t kModuleAtEnd = 4;
inline constexpr std::uint8_t kModuleLoaded = 10;

inline EtlBytes ModuleRecord(std::uint32_t process, std::uint64_t begin, std::uint64_t bytes,
                             std::u16string_view path, std::uint64_t time = 1,
                             std::uint8_t opcode = kModuleLoaded) {
  EtlBytes payload;
  AppendNumber(payload, begin, 8);
  AppendNumber(payload, bytes, 8);
  AppendNumber(payload, process, 4);
  payload.resize(56);
  for (const char16_t unit : path) AppendNumber(payload, unit, 2);
  AppendNumber(payload, 0, 2);
  return RecordOf(TraceEvent{.opcode = opcode, .time = time, .payload = payload}, 0x14,
                  EtlHeader::kWhole);
}

struct MadeBuffer {
  std::vector<EtlBytes> records = {};
  std::uint16_t flags = 0;
};

class EtlWriter {
 public:
  static constexpr std::size_t kBufferBytes = 4096;

  void Add(const MadeBuffer& made) {
    EtlBytes buffer;
    AppendNumber(buffer, kBufferBytes, 4);
    buffer.resize(52);
    AppendNumber(buffer, made.flags, 2);
    buffer.resize(72);
    for (const EtlBytes& record : made.records) {
      buffer.insert(buffer.end(), record.begin(), record.end());
      buffer.resize((buffer.size() + 7) / 8 * 8);
    }
    const auto used = static_cast<std::uint32_t>(buffer.size());
    std::memcpy(buffer.data() + 48, &used, sizeof(used));
    buffer.resize(kBufferBytes, std::byte{0xff});
    bytes.insert(bytes.end(), buffer.begin(), buffer.end());
  }

  EtlBytes bytes;
};

inline ReadEtlBytes BytesOf(const EtlBytes& bytes) {
  return [&bytes](std::byte* to, std::size_t size, std::uint64_t offset) -> std::size_t {
    if (offset >= bytes.size()) return 0;
    const std::size_t count = std::min<std::size_t>(size, bytes.size() - offset);
    std::memcpy(to, bytes.data() + offset, count);
    return count;
  };
}

}  // namespace leakgate::test
