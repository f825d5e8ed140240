// Writes a recording while the process runs (docs/internals/recording-format.md).
//
//   BeginSegment, events().., EndSegment    the events of one thread, in its order
//   EndRound                                all events of a span of time are in the file now
//   Finish                                  the end, and an index of the rounds
//
// What events refer to is added to records() before them. Memory does not grow with the file. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/recording/file/event_columns.h"
#include "runner/recording/file/recorded_event.h"
#include "runner/snapshot/file/record_writer.h"

namespace leakgate {

// Times here are in units since the recording began.
struct SegmentStart {
  std::uint32_t thread = 0;  // 0: the events belong to no thread
  std::uint64_t begin_time = 0;
  std::uint32_t window = 0;       // the window to which allocations are charged at first
  std::uint64_t lost_events = 0;  // by the thread, before the segment, since `lost_begin`
  std::uint64_t lost_begin = 0;
};

class RecordingWriter {
 public:
  // Creates the file, which only its owner can read. Returns a usage error if the file exists.
  [[nodiscard]] static Expected<RecordingWriter> Create(const std::filesystem::path& path,
                                                        AtomicFile::Existing existing,
                                                        const RecordingFacts& facts);
  // Writes to `out`, which must outlive the writer.
  RecordingWriter(std::ostream& out, const RecordingFacts& facts);

  [[nodiscard]] RecordWriter& records() { return records_; }
  // Returns the number of the name of a mark; nothing if the file has no room for one more.
  [[nodiscard]] std::optional<std::uint32_t> Mark(std::string_view name);

  void BeginSegment(const SegmentStart& start);
  [[nodiscard]] recording_format::SegmentWriter& events() { return segment_; }
  void EndSegment();

  // All events up to `time` have been added. That moment is `time_ns` after the recording's begin.
  // Returns an error if the file cannot be written any more: what was written before stays
  // readable.
  [[nodiscard]] Expected<void> EndRound(std::uint64_t time, std::uint64_t time_ns);

  [[nodiscard]] Expected<RecordingClosing> Finish(RecordingClosing closing);

  [[nodiscard]] std::uint64_t event_count() const { return event_count_; }

 private:
  void FlushEvents();

  std::optional<AtomicFile> file_;
  RecordWriter records_;
  recording_format::SegmentWriter segment_;
  SegmentStart start_;
  snapshot_format::ByteWriter events_;  // whole segments, not yet written
  snapshot_format::ByteWriter scratch_;
  std::uint64_t event_count_ = 0;
  struct KnownMark {
    bool is_set = false;
    std::uint32_t number = 0;
    std::string name;
  };
  std::vector<KnownMark> known_marks_{1024};  // by the hash of the name: the newest of each
  std::uint32_t mark_count_ = 0;
  struct Round {
    std::uint64_t position;
    std::uint64_t end_ns;
    std::uint64_t events;  // the number of events up to its end
  };
  std::vector<Round> rounds_;
};

}  // namespace leakgate
