// Reads a recording, and counts the part of it that is to be shown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/event_tally.h"
#include "runner/recording/view/read_ahead.h"
#include "runner/recording/view/recording_time.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

[[nodiscard]] RecordingSource RecordingFile(const std::filesystem::path& path);

// What part of a recording is to be shown.
struct RecordingQuery {
  StackQuery stacks{};  // of the blocks
  std::optional<RecordingTime> from{};
  std::optional<RecordingTime> to{};
  NumberRange size_bytes{};
  NumberRange lifetime_ns{};
  std::size_t commits = 0;  // how many commits of mappings are kept one by one

  [[nodiscard]] bool HasInterval() const { return from || to; }
};

// It cannot be moved, since its members refer to each other.
class RecordingView {
 public:
  explicit RecordingView(RecordingQuery query, Symbolizer symbolizer = Symbolizer());
  RecordingView(const RecordingView&) = delete;
  RecordingView& operator=(const RecordingView&) = delete;

  // Must be called once. Returns a usage error if there is no such moment, too. `name` is the name
  // of the recording.
  [[nodiscard]] Expected<void> Read(RecordingSource source, const std::string& name);

  [[nodiscard]] const RecordingQuery& query() const { return query_; }
  [[nodiscard]] const RecordingSource& source() const { return source_; }
  // The content of the recording except events. Its `closing` is that of the process.
  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const RecordingFacts& facts() const { return facts_; }
  [[nodiscard]] const RecordingClosing& closing() const { return closing_; }
  [[nodiscard]] const EventTally& tally() const { return tally_; }
  [[nodiscard]] StackLookup& stacks() { return stacks_; }
  [[nodiscard]] StackFrames& frames() { return stacks_.frames(); }

  // How long the recording is, and which part of it is shown, in nanoseconds since its begin.
  [[nodiscard]] std::uint64_t length_ns() const { return length_ns_; }
  [[nodiscard]] std::uint64_t begin_ns() const { return tally_.interval().begin_ns(); }
  [[nodiscard]] std::uint64_t end_ns() const {
    return tally_.interval().has_ended() ? tally_.interval().end_ns() : length_ns_;
  }

  // The names of marks, by number.
  [[nodiscard]] const std::vector<std::string>& marks() const { return marks_; }
  // Returns the interval that is shown, so that it can be followed once more.
  [[nodiscard]] Interval MakeInterval() const;
  // Calls `use` with the id of each window that was open when the recording began.
  template <typename Use>
  void ForEachWindowAtBegin(const Use& use) const {
    for (const auto& [id, window] : contents_.windows) {
      const bool was_open = window.begin_ns <= facts_.process.taken_ns &&
                            (window.end_ns == 0 || window.end_ns > facts_.process.taken_ns);
      if (was_open) use(id);
    }
  }

 private:
  [[nodiscard]] RecordedBlockFilter MakeFilter();
  [[nodiscard]] RecordingVisitor Visitor();
  [[nodiscard]] Expected<void> CheckMoments() const;

  RecordingQuery query_;
  RecordingSource source_;
  RecordingFacts facts_;
  RecordingClosing closing_;
  SnapshotContents contents_;
  std::vector<std::string> marks_;
  MomentFinder finder_;
  StackLookup stacks_;
  EventTally tally_;
  bool has_begun_ = false;  // events have been read
  std::uint64_t length_ns_ = 0;
};

// Makes `visitor` keep in `contents` what it receives, except events, blocks and facts.
void KeepContents(RecordingVisitor& visitor, SnapshotContents& contents,
                  std::vector<std::string>& marks);

// Returns a usage error if it is clear before reading that the two do not make an interval.
[[nodiscard]] Expected<void> CheckInterval(const std::optional<RecordingTime>& from,
                                           const std::optional<RecordingTime>& to);

}  // namespace leakgate
