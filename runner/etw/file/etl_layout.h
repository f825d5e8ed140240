// The layout of an .etl file, as far as it is public: buffers with a header each, and records in
// them. Pure; any bytes may come.
//
//   buffer   0 size  48 bytes that are used  52 flags  72 records, each at a multiple of 8
//   record   2 kind, 3 what the kind is of; for events of the system: 4 size, 6 opcode, 7 group
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runner/etw/trace_event.h"

namespace leakgate {

inline constexpr std::size_t kEtlHeaderBytes = 72;
inline constexpr std::uint32_t kMostEtlBufferBytes = std::uint32_t{16} << 20;  // as Windows has it

struct EtlBuffer {
  std::uint64_t offset = 0;  // in the file
  std::uint32_t size = 0;    // with its header
  std::uint32_t used = 0;    // with its header; at most `size`
  bool has_lost_events = false;
  bool has_lost_buffers = false;
  bool is_compressed = false;
};

// Returns nothing if these are no bytes of a buffer's header.
[[nodiscard]] std::optional<EtlBuffer> ReadEtlBuffer(
    std::span<const std::byte, kEtlHeaderBytes> header, std::uint64_t offset);

// What a record is. kOther: nothing that is read here.
enum class EtlGroup : std::uint8_t {
  kOther,
  kFile,
  kHeap,
  kStack,
  kModule,
  kProcessStart,
  kHeapSnapshot
};

struct EtlRecord {
  EtlGroup group = EtlGroup::kOther;
  std::uint8_t version = 0;
  bool has_time = false;    // else it is of a layout that is not known
  bool has_process = true;  // else `event` has neither process nor thread
  TraceEvent event;         // its payload is in the buffer
};

// Reads the records of one buffer, one by one.
class EtlRecordReader {
 public:
  // `used` are the used bytes of a buffer, with its header.
  explicit EtlRecordReader(std::span<const std::byte> used)
      : rest_(used.subspan(used.size() < kEtlHeaderBytes ? used.size() : kEtlHeaderBytes)) {}

  // Returns nothing at the end.
  std::optional<EtlRecord> Next();

  // Whether the end is a record that is none: what follows it was not read.
  bool is_broken() const { return is_broken_; }

 private:
  std::span<const std::byte> rest_;
  bool is_broken_ = false;
};

// What the first record of a file says of the whole.
struct EtlFileFacts {
  std::uint32_t buffers = 0;  // that were written
  std::uint32_t lost_events = 0;
  std::uint32_t lost_buffers = 0;
};
[[nodiscard]] std::optional<EtlFileFacts> ReadEtlFileFacts(const TraceEvent& event);

// A module of a process. Recordings tell which ones were there when they began and ended, too.
enum class EtlModuleChange : std::uint8_t { kLoaded, kThere, kUnloaded };
struct EtlModule {
  EtlModuleChange change = EtlModuleChange::kLoaded;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t process = 0;
  std::string name;  // of its file, without the folder
};
// Returns nothing if the record is of a version that is not known, or cut short.
[[nodiscard]] std::optional<EtlModule> ReadEtlModule(const EtlRecord& record);

// The process that a record of kProcessStart tells of; nothing if it is of another version.
[[nodiscard]] std::optional<std::uint32_t> ReadEtlProcessStart(const EtlRecord& record);

// The process that a stack is of; nothing if it is cut short.
struct EtlStackOwner {
  std::uint64_t time = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};
[[nodiscard]] std::optional<EtlStackOwner> ReadEtlStackOwner(const TraceEvent& event);

}  // namespace leakgate
