#include "runner/recording/file/read_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/recording/file/event_columns.h"
#include "runner/recording/file/recording_records.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/record_checks.h"
#include "runner/snapshot/file/records.h"

namespace leakgate {
namespace {

using recording_format::SegmentReader;
using snapshot_format::ByteReader;
using snapshot_format::Part;
using snapshot_format::PartKind;
using snapshot_format::PartReader;

constexpr std::size_t kEventsAtOnce = 4096;
// No recorder drains more at once, because this is all the memory for buffers.
constexpr std::uint64_t kMostRoundBytes = 2 * kMaxEventBytes;
// One segment for each buffer, and a few that belong to no thread.
constexpr std::uint32_t kMostSegmentsPerRound = kMaxEventBuffers + 16;

// A moment by both clocks, since the recording's begin.
struct ClockPair {
  std::uint64_t units = 0;
  std::uint64_t ns = 0;
};

// Converts times to nanoseconds, between two moments that are known by both clocks.
class Clock {
 public:
  Clock(const ClockPair& begin, const ClockPair& end) : begin_(begin) {
    if (end.units > begin.units && end.ns > begin.ns) {
      unit_ns_ =
          static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.units - begin.units);
    }
  }
  std::uint64_t Ns(std::uint64_t units) const {
    if (units >= begin_.units) {
      return begin_.ns +
             static_cast<std::uint64_t>(static_cast<double>(units - begin_.units) * unit_ns_);
    }
    const auto before =
        static_cast<std::uint64_t>(static_cast<double>(begin_.units - units) * unit_ns_);
    return begin_.ns - std::min(before, begin_.ns);
  }

 private:
  ClockPair begin_;
  double unit_ns_ = 1;
};

// The events that were lost before a segment.
struct LostBefore {
  std::uint32_t thread;
  std::uint64_t events;
  std::uint64_t begin;  // in units
  std::uint64_t end;
};

class Reading {
 public:
  Reading(std::istream& in, const std::string& name, const RecordingVisitor& visitor)
      : visit_(visitor), parts_(in, name, snapshot_format::kRecordingFile) {
    records_visitor_.facts = [this](SnapshotFacts&& facts) { facts_.process = std::move(facts); };
    records_visitor_.module = visitor.module;
    records_visitor_.window = visitor.window;
    records_visitor_.thread = visitor.thread;
    records_visitor_.nodes = visitor.nodes;
    records_visitor_.blocks = visitor.blocks;
    records_visitor_.mapping = visitor.mapping;
  }

  Expected<void> Read() {
    if (const Expected<void> begins = parts_.ReadFirstLine(); !begins) return begins;
    while (!is_closed_) {
      const Expected<std::optional<Part>> part = parts_.Next();
      if (!part && !parts_.WasCutOff()) return Unexpected(part.error());
      if (!part || !*part) return EndEarly();
      if (const Expected<void> used = Use(**part); !used) return used;
    }
    return {};
  }

 private:
  Expected<void> Use(const Part& part) {
    switch (static_cast<PartKind>(part.kind)) {
      case PartKind::kRecordingFacts:
        return UseFacts(part.plain);
      case PartKind::kMarks:
        return UseMarks(part.plain);
      case PartKind::kEvents:
        return UseEvents(part.plain);
      case PartKind::kRound:
        return UseRound(part.plain);
      case PartKind::kClosing:
        has_closing_ = Decode(ByteReader(part.plain), closing_.process);
        return has_closing_ ? Expected<void>() : parts_.Broken(snapshot_format::kDamagedRecord);
      case PartKind::kRecordingEnd:
        return UseEnd(part.plain);
      default:
        return records_.Use(part, records_visitor_);
    }
  }

  Expected<void> UseFacts(std::string_view plain) {
    if (!records_.has_facts() || has_facts_ ||
        !recording_format::Decode(ByteReader(plain), facts_)) {
      return parts_.Broken(snapshot_format::kDamagedRecord);
    }
    has_facts_ = true;
    if (visit_.facts) visit_.facts(RecordingFacts(facts_));
    return {};
  }

  Expected<void> UseMarks(std::string_view plain) {
    for (ByteReader in(plain); !in.is_at_end();) {
      const std::string_view name = in.Text();
      if (!in.is_good()) return parts_.Broken(snapshot_format::kDamagedRecord);
      if (!text_.Take(name.size() + snapshot_format::kMarkBytesBesidesName))
        return parts_.Broken("it names too much");
      ++mark_count_;
      if (visit_.mark) visit_.mark(std::string(name));
    }
    return {};
  }

  // Keeps the segments until their round ends.
  Expected<void> UseEvents(std::string_view plain) {
    if (!has_facts_) return parts_.Broken("its beginning is missing");
    round_bytes_ += plain.size();
    if (round_bytes_ > kMostRoundBytes) return parts_.Broken("a round is too long");
    texts_.push_back(std::make_unique<std::string>(plain));
    ByteReader in(*texts_.back());
    while (!in.is_at_end()) {
      const std::uint32_t thread = in.Number32();
      const std::uint64_t begin_time = in.Number();
      const std::uint32_t window = in.Number32();
      const std::uint64_t lost = in.Number();
      const std::uint64_t lost_begin = in.Number();
      const std::uint32_t count = in.Number32();
      if (++segments_in_round_ > kMostSegmentsPerRound) {
        return parts_.Broken("a round has too many segments");
      }
      if (lost != 0) lost_.push_back({thread, lost, lost_begin, begin_time});
      auto segment = std::make_unique<SegmentReader>(in, count, begin_time, thread, window);
      const bool fits =
          records_.threads().HasOrNone(thread) && records_.windows().HasOrNone(window);
      if (!in.is_good() || !segment->is_good() || !fits) {
        return parts_.Broken("a segment of events is damaged");
      }
      events_in_file_ += count;
      segments_.push_back(std::move(segment));
    }
    return {};
  }

  Expected<void> UseRound(std::string_view plain) {
    ByteReader in(plain);
    const ClockPair end{in.Number(), in.Number()};
    if (!in.is_good()) return parts_.Broken(snapshot_format::kDamagedRecord);
    return EmitRound(end);
  }

  Expected<void> EmitRound(const ClockPair& end) {
    const Clock clock(last_pair_, end);
    EmitLost(clock);
    Expected<void> given = Merge(clock);
    if (end.units > last_pair_.units && end.ns > last_pair_.ns) last_pair_ = end;
    segments_.clear();
    texts_.clear();
    lost_.clear();
    round_bytes_ = 0;
    segments_in_round_ = 0;
    return given;
  }

  void EmitLost(const Clock& clock) {
    for (const LostBefore& lost : lost_) {
      lost_events_ += lost.events;
      RecordedEvent& event = NextEvent();
      event = {.time_ns = clock.Ns(lost.end),
               .address = clock.Ns(lost.begin),
               .size_bytes = lost.events,
               .thread = lost.thread,
               .kind = RecordedKind::kLost};
    }
  }

  // Merges by time, and by the order of the file if times are equal: segments of one thread are in
  // the thread's order.
  Expected<void> Merge(const Clock& clock) {
    using Entry = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (!segments_[i]->is_at_end()) next.emplace(segments_[i]->time(), i);
    }
    while (!next.empty()) {
      const std::size_t index = next.top().second;
      next.pop();
      const Entry limit = next.empty() ? Entry(UINT64_MAX, SIZE_MAX) : next.top();
      if (const Expected<void> given = GiveUpTo(limit, index, clock); !given) return given;
      SegmentReader& segment = *segments_[index];
      if (!segment.is_good()) return parts_.Broken("an event is damaged");
      if (!segment.is_at_end()) next.emplace(segment.time(), index);
    }
    return Give();
  }

  Expected<void> GiveUpTo(const std::pair<std::uint64_t, std::size_t>& limit, std::size_t index,
                          const Clock& clock) {
    SegmentReader& segment = *segments_[index];
    while (!segment.is_at_end() && std::pair(segment.time(), index) < limit) {
      if (event_count_ == events_.size()) {
        if (const Expected<void> given = Give(); !given) return given;
      }
      RecordedEvent& event = events_[event_count_++];
      event.time_ns = clock.Ns(segment.time());
      segment.Next(event);
      if (!Fits(event)) return parts_.Broken("an event is damaged");
    }
    return {};
  }

  bool Fits(const RecordedEvent& event) const {
    return records_.IsStack(event.stack) && records_.windows().HasOrNone(event.window) &&
           event.size_bytes <= kMostBytes && event.address <= kMostBytes &&
           (event.kind != RecordedKind::kMark || event.mark < mark_count_);
  }

  // Makes room if there is none, and drops an error of the visitor: it occurs again at the next
  // call.
  RecordedEvent& NextEvent() {
    if (event_count_ == events_.size() && !Give()) event_count_ = 0;
    return events_[event_count_++];
  }

  Expected<void> Give() {
    const std::span<const RecordedEvent> given(events_.data(), std::exchange(event_count_, 0));
    if (given.empty() || !visit_.events) return {};
    return visit_.events(given);
  }

  Expected<void> UseEnd(std::string_view plain) {
    if (!has_closing_ || !recording_format::Decode(ByteReader(plain), closing_)) {
      return parts_.Broken(snapshot_format::kDamagedRecord);
    }
    if (closing_.events != events_in_file_ || !records_.Fit(closing_.process)) {
      return parts_.Broken("events are missing");
    }
    is_closed_ = true;
    if (visit_.closing) visit_.closing(std::move(closing_));
    return {};
  }

  // The recorder was killed, or had no room: the file is valid up to the last whole part.
  Expected<void> EndEarly() {
    if (!has_facts_) return parts_.Broken("its beginning is missing");
    if (!segments_.empty()) {
      std::uint64_t last = last_pair_.units;
      for (const auto& segment : segments_) last = std::max(last, segment->time());
      const auto ns =
          static_cast<std::uint64_t>(static_cast<double>(last - last_pair_.units) * facts_.unit_ns);
      if (const Expected<void> given = EmitRound({last, last_pair_.ns + ns}); !given) return given;
    }
    RecordingClosing closing;
    closing.end_ns = last_pair_.ns;
    closing.events = events_in_file_;
    closing.lost_events = lost_events_;
    closing.missing.emplace_back(
        "the recording was cut off: what happened after its last part is missing");
    if (visit_.closing) visit_.closing(std::move(closing));
    return {};
  }

  static constexpr std::uint64_t kMostBytes = 1ULL << 62;

  const RecordingVisitor& visit_;
  PartReader parts_;
  snapshot_format::RecordChecks records_{parts_};
  SnapshotVisitor records_visitor_;
  RecordingFacts facts_;
  RecordingClosing closing_;
  bool has_facts_ = false;
  bool has_closing_ = false;
  bool is_closed_ = false;
  std::uint32_t mark_count_ = 0;
  snapshot_format::TextRoom text_;  // of marks
  std::uint64_t events_in_file_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t round_bytes_ = 0;
  std::uint32_t segments_in_round_ = 0;
  ClockPair last_pair_;
  std::vector<std::unique_ptr<std::string>> texts_;  // the texts from which the segments are read
  std::vector<std::unique_ptr<SegmentReader>> segments_;
  std::vector<LostBefore> lost_;
  std::array<RecordedEvent, kEventsAtOnce> events_{};
  std::size_t event_count_ = 0;
};

}  // namespace

Expected<void> ReadRecording(std::istream& in, const std::string& name,
                             const RecordingVisitor& visitor) {
  return std::make_unique<Reading>(in, name, visitor)->Read();
}

Expected<void> ReadRecording(const std::filesystem::path& path, const RecordingVisitor& visitor) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return UsageError(fmt::format("{}: a directory; name a recording in it", PathText(path)));
  }
  auto file = OpenRegularFile(path);
  if (!file) {
    return UsageError(fmt::format("{}: cannot be read: {}; name a recording", PathText(path),
                                  file.error().message()));
  }
  const std::unique_ptr<std::istream> stream = MakeInputStream(*std::move(file));
  return ReadRecording(*stream, PathText(path), visitor);
}

}  // namespace leakgate
