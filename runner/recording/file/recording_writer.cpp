#include "runner/recording/file/recording_writer.h"

#include <functional>
#include <utility>

#include "runner/recording/file/recording_records.h"

namespace leakgate {
namespace {

using snapshot_format::ByteWriter;
using snapshot_format::PartKind;

// A segment is as large as a buffer at most, so a part stays below its limit.
constexpr std::size_t kFullBytes = 1U << 20;
// If the index would be larger, entries are removed from it evenly.
constexpr std::size_t kMostRounds = 1U << 16;

}  // namespace

RecordingWriter::RecordingWriter(std::ostream& out, const RecordingFacts& facts)
    : records_(out, snapshot_format::kRecordingFile) {
  records_.WriteAlone(PartKind::kFacts, facts.process);
  recording_format::Encode(facts, scratch_);
  records_.parts().Write(PartKind::kRecordingFacts, scratch_.bytes());
}

Expected<RecordingWriter> RecordingWriter::Create(const std::filesystem::path& path,
                                                  AtomicFile::Existing existing,
                                                  const RecordingFacts& facts) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::CreateGrowing(path, existing));
  RecordingWriter writer(file.out(), facts);
  writer.file_.emplace(std::move(file));
  return writer;
}

// Most programs set the same few marks again and again.
std::optional<std::uint32_t> RecordingWriter::Mark(std::string_view name) {
  KnownMark& known = known_marks_[std::hash<std::string_view>()(name) % known_marks_.size()];
  if (known.is_set && known.name == name) return known.number;
  if (!records_.AddMark(name)) return std::nullopt;
  known = {.is_set = true, .number = mark_count_, .name = std::string(name)};
  return mark_count_++;
}

void RecordingWriter::BeginSegment(const SegmentStart& start) { start_ = start; }

void RecordingWriter::EndSegment() {
  if (segment_.count() == 0 && start_.lost_events == 0) return;
  event_count_ += segment_.count();
  events_.Number(start_.thread);
  events_.Number(start_.begin_time);
  events_.Number(start_.window);
  events_.Number(start_.lost_events);
  events_.Number(start_.lost_begin);
  events_.Number(segment_.count());
  segment_.Take(events_);
  if (events_.size() >= kFullBytes) FlushEvents();
}

void RecordingWriter::FlushEvents() {
  records_.FlushBlocks();
  if (events_.size() == 0) return;
  records_.parts().Write(PartKind::kEvents, events_.bytes());
  events_.Clear();
}

Expected<void> RecordingWriter::EndRound(std::uint64_t time, std::uint64_t time_ns) {
  FlushEvents();
  scratch_.Clear();
  scratch_.Number(time);
  scratch_.Number(time_ns);
  scratch_.Number(event_count_);
  records_.parts().Write(PartKind::kRound, scratch_.bytes());
  rounds_.push_back({records_.parts().position(), time_ns, event_count_});
  if (rounds_.size() >= kMostRounds) {
    for (std::size_t i = 0; 2 * i + 1 < rounds_.size(); ++i) rounds_[i] = rounds_[2 * i + 1];
    rounds_.resize(rounds_.size() / 2);
  }
  return file_ ? file_->Flush() : Expected<void>();
}

Expected<RecordingClosing> RecordingWriter::Finish(RecordingClosing closing) {
  FlushEvents();
  closing.events = event_count_;
  closing.process.blocks = records_.counts().blocks;
  closing.process.bytes = records_.counts().bytes;
  closing.process.mappings = records_.counts().mappings;
  records_.WriteAlone(PartKind::kClosing, closing.process);
  scratch_.Clear();
  recording_format::Encode(closing, scratch_);
  records_.parts().Write(PartKind::kRecordingEnd, scratch_.bytes());
  scratch_.Clear();
  scratch_.Number(rounds_.size());
  for (const Round& round : rounds_) {
    scratch_.Number(round.position);
    scratch_.Number(round.end_ns);
    scratch_.Number(round.events);
  }
  records_.parts().Write(PartKind::kIndex, scratch_.bytes());
  if (!file_) return closing;
  LEAKGATE_TRY(file_->Commit());
  return closing;
}

}  // namespace leakgate
