#include "runner/recording/event_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/live_slot.h"
#include "runner/recording/file/recording_writer.h"
#include "runner/snapshot/file/write_snapshot.h"

namespace leakgate {
namespace {

// How long a thread's events may wait in its buffer.
constexpr std::chrono::milliseconds kPatience(50);

constexpr std::uint64_t kMostBlockBytes = 1ULL << kAddressBits;

std::uint64_t AddressIn(std::uint64_t word) {
  return ((word >> kEventTimeBits) & kEventAddressMask) << kGranuleShift;
}

}  // namespace

// The work of the recorder's thread: a round drains all buffers up to one moment.
class EventRecorder::Rounds {
 public:
  Rounds(const RegionReader& region, std::shared_ptr<EventBuffers> buffers, RecorderSetup setup,
         EventMoment begin, RecordingWriter writer)
      : region_(region),
        buffers_(std::move(buffers)),
        setup_(std::move(setup)),
        begin_(begin),
        writer_(std::move(writer)),
        records_(region, setup_.thread_name, writer_.records()) {}

  EventBuffers& buffers() { return *buffers_; }

  // Why the file cannot be written, once that is known.
  const std::optional<Error>& failure() const { return failure_; }

  // What is live when recording begins.
  Expected<void> CopyLive() {
    (void)records_.Window(region_.CurrentWindow());
    if (!setup_.has_blocks) return {};
    const Expected<void> copied =
        region_.VisitBlocks([&](std::span<const LiveBlock> blocks) { return records_.Add(blocks); },
                            RegionReader::Pools::kLeftOut);
    if (!copied) return copied;
    for (const MappingCopy& mapping : region_.Mappings()) records_.Add(mapping);
    return {};
  }

  // Once the file cannot be written, events are discarded, so that no thread waits.
  void Drain() {
    const EventMoment now = EventTimeNow(setup_.unit);
    DrainUpTo(now.units);
    NoteSwitch(now);
    EndRound(now);
  }

  // Drains everything, whatever its time.
  Expected<RecordingClosing> Finish() {
    DrainUpTo(UINT64_MAX);
    const EventMoment now = EventTimeNow(setup_.unit);
    records_.AddEnds();
    EndRound(now);
    if (failure_) return Unexpected(*failure_);
    RecordingClosing closing;
    closing.end_ns = NsSinceBegin(now);
    closing.lost_events = std::max(buffers_->LostEvents(), told_lost_);
    closing.waits = buffers_->Waits();
    closing.waited_ns = buffers_->WaitedNs();
    closing.process = ClosingOf(region_, records_.Window(region_.CurrentWindow()));
    closing.process.drops[static_cast<std::size_t>(DropReason::kTextFull)] += records_.left_out();
    closing.missing = Missing(closing);
    return writer_.Finish(std::move(closing));
  }

 private:
  // Another command may have switched events off, or on again.
  void NoteSwitch(const EventMoment& now) {
    const bool is_on = buffers_->IsOn();
    if (failure_ || std::exchange(was_on_, is_on) == is_on) return;
    writer_.BeginSegment({.begin_time = UnitsSinceBegin(now.units)});
    writer_.events().Other(0, {.kind = is_on ? RecordedKind::kContinue : RecordedKind::kPause});
    writer_.EndSegment();
    was_paused_ = true;
  }

  // How far a buffer has been read.
  struct BufferState {
    std::uint64_t time = 0;     // of its last event, in units
    std::uint32_t window = 0;   // in the file
    std::uint32_t context = 0;  // in the region
  };

  std::uint64_t UnitsSinceBegin(std::uint64_t units) const {
    return units > begin_.units ? units - begin_.units : 0;
  }
  std::uint64_t NsSinceBegin(const EventMoment& moment) const {
    return moment.monotonic_ns > begin_.monotonic_ns ? moment.monotonic_ns - begin_.monotonic_ns
                                                     : 0;
  }

  void DrainUpTo(std::uint64_t horizon) {
    buffers_->Drain([&](const EventPiece& piece, EventPosition& position) {
      return failure_ ? piece.words.size() : UsePiece(piece, horizon, position);
    });
  }

  void EndRound(const EventMoment& now) {
    if (failure_) return;
    const Expected<void> written = writer_.EndRound(UnitsSinceBegin(now.units), NsSinceBegin(now));
    if (written) return;
    failure_ = written.error();
    buffers_->SetOn(false);
  }

  std::size_t UsePiece(const EventPiece& piece, std::uint64_t horizon, EventPosition& position) {
    if (piece.words.empty() && (!piece.is_first || piece.lost_events == 0)) return 0;
    const std::uint32_t thread = records_.Thread(piece.thread);
    BufferState state{position.time, records_.Window(region_.WindowOfContext(position.context)),
                      position.context};
    SegmentStart start{
        .thread = thread, .begin_time = UnitsSinceBegin(state.time), .window = state.window};
    const bool tells_of_lost = piece.is_first && piece.lost_events != 0 &&
                               told_lost_buffers_[piece.buffer] != piece.begin_time;
    if (tells_of_lost) {
      start.lost_events = std::min(piece.lost_events, kMostBlockBytes);
      start.lost_begin = UnitsSinceBegin(piece.lost_begin);
      told_lost_ += start.lost_events;
      told_lost_buffers_[piece.buffer] = piece.begin_time;
    }
    writer_.BeginSegment(start);
    std::size_t used = UseWords(piece.words, horizon, state);
    writer_.EndSegment();
    // An event that the thread has not completed by now will never be complete.
    if (piece.is_full && !is_early_ && used < piece.words.size()) {
      ++damaged_;
      used = piece.words.size();
    }
    position = {state.time, state.context};
    return used;
  }

  // Returns how many words were used: whole events up to the horizon.
  std::size_t UseWords(std::span<const std::uint64_t> words, std::uint64_t horizon,
                       BufferState& state) {
    recording_format::SegmentWriter& out = writer_.events();
    std::uint64_t written = state.time;  // the time of the last event that is in the segment
    is_early_ = false;
    std::size_t at = 0;
    while (at < words.size()) {
      const std::uint64_t word = words[at];
      const std::uint64_t time = state.time + (word & kMostEventDelta);
      is_early_ = time > horizon;
      if (is_early_) break;
      const auto tag = static_cast<EventTag>(word >> kEventTagShift);
      if (tag == EventTag::kFree) {
        out.Free(time - written, AddressIn(word));
        at += 1;
      } else if (tag == EventTag::kAllocate) {
        if (words.size() - at < 2) break;
        const std::uint64_t rest = words[at + 1];
        std::uint64_t bytes = rest & kLongSize;
        const std::size_t count = bytes == kLongSize ? 3 : 2;
        if (words.size() - at < count) break;
        if (count == 3) bytes = std::min(words[at + 2], kMostBlockBytes);
        const auto stack =
            static_cast<std::uint32_t>((rest >> kEventSizeBits) & ((1U << kStackBits) - 1));
        out.Allocate(time - written, AddressIn(word), bytes, records_.Stack(stack),
                     CheckedKind(rest >> kEventKindShift));
        at += count;
      } else if (tag == EventTag::kFreeByStack) {
        if (words.size() - at < 2) break;
        out.FreeByStack(time - written, AddressIn(word),
                        records_.Stack(static_cast<std::uint32_t>(words[at + 1])));
        at += 2;
      } else {
        const auto event = static_cast<OtherEvent>((word >> kOtherEventShift) & kOtherEventMask);
        const std::uint64_t value = (word >> kEventTimeBits) & kOtherValueMask;
        const std::size_t count = 1 + WordsAfter(event, value);
        if (words.size() - at < count) break;
        if (event == OtherEvent::kTime) {
          is_early_ = words[at + 1] > horizon;
          if (is_early_) break;
          state.time = std::max(state.time, words[at + 1]);
          at += count;
          continue;
        }
        UseOther(event, words.subspan(at, count), time - written, state);
        at += count;
      }
      state.time = time;
      written = time;
    }
    return at;
  }

  void UseOther(OtherEvent event, std::span<const std::uint64_t> words, std::uint64_t delta,
                BufferState& state) {
    recording_format::SegmentWriter& out = writer_.events();
    const std::uint64_t value = (words[0] >> kEventTimeBits) & kOtherValueMask;
    const auto id = static_cast<std::uint32_t>(value);
    const std::uint32_t stack = id & ((1U << kStackBits) - 1);
    RecordedEvent told{.window = state.window};
    if (event != OtherEvent::kMark && words.size() == 3) {
      told.address = std::min(words[1], kMostBlockBytes);
      told.size_bytes = std::min(words[2], kMostBlockBytes);
    }
    switch (event) {
      case OtherEvent::kContext:
        state.context = id;
        state.window = records_.Window(region_.WindowOfContext(id));
        return out.Window(delta, state.window);
      case OtherEvent::kWindowBegins:
        told.kind = RecordedKind::kWindowBegins;
        told.window = CheckedWindow(id);
        break;
      case OtherEvent::kWindowEnds:
        told.kind = RecordedKind::kWindowEnds;
        told.window = CheckedWindow(id);
        break;
      case OtherEvent::kMark: {
        const std::optional<std::uint32_t> mark = MarkIn(words, value);
        if (!mark) return out.Window(delta, state.window);
        told.kind = RecordedKind::kMark;
        told.mark = *mark;
        break;
      }
      case OtherEvent::kThreadBegins:
        told.kind = RecordedKind::kThreadBegins;
        break;
      case OtherEvent::kThreadEnds:
        told.kind = RecordedKind::kThreadEnds;
        break;
      case OtherEvent::kMap:
      case OtherEvent::kRestore:
        told.kind = event == OtherEvent::kMap ? RecordedKind::kMap : RecordedKind::kRestore;
        told.stack = records_.Stack(stack);
        told.mark = static_cast<std::uint32_t>(value >> kReservedBit) & 1;
        told.allocation_kind = CheckedKind((value >> kStackBits) & 0xF);
        break;
      case OtherEvent::kUnmap:
      case OtherEvent::kCommit:
      case OtherEvent::kDecommit:
        told.kind = event == OtherEvent::kUnmap    ? RecordedKind::kUnmap
                    : event == OtherEvent::kCommit ? RecordedKind::kCommit
                                                   : RecordedKind::kDecommit;
        told.stack = records_.Stack(stack);
        break;
      case OtherEvent::kModulesChange:
        told.kind = RecordedKind::kModulesChange;
        told.mark = id == 1 ? 1 : 2;
        break;
      default:
        ++damaged_;
        return out.Window(delta, state.window);
    }
    out.Other(delta, told);
  }

  // The agent never writes these values: the process has overwritten them.
  AllocationKind CheckedKind(std::uint64_t kind) {
    const bool is_known = kind >= static_cast<std::uint64_t>(AllocationKind::kMalloc) &&
                          kind <= static_cast<std::uint64_t>(AllocationKind::kThreadStack);
    if (!is_known) ++damaged_;
    return is_known ? static_cast<AllocationKind>(kind) : AllocationKind::kMalloc;
  }
  std::uint32_t CheckedWindow(std::uint32_t id) {
    const std::uint32_t window = records_.Window(id);
    if (window != id && records_.left_out() == 0) ++damaged_;
    return window;
  }

  // Returns the number of the mark whose name has `bytes`, and follows the first of `words`.
  // Nothing if there are too many, or if the process has overwritten it.
  std::optional<std::uint32_t> MarkIn(std::span<const std::uint64_t> words, std::uint64_t bytes) {
    if (bytes > kMostMarkBytes) {
      ++damaged_;
      return std::nullopt;
    }
    const char* const text = reinterpret_cast<const char*>(words.data() + 1);
    const std::optional<std::uint32_t> mark = writer_.Mark({text, bytes});
    if (!mark) ++lost_marks_;
    return mark;
  }

  std::vector<std::string> Missing(const RecordingClosing& closing) const {
    std::vector<std::string> missing = setup_.process.not_recorded;
    if (was_paused_) {
      missing.emplace_back("recording was switched off for a while: what happened then is missing");
    }
    if (closing.lost_events != 0) {
      missing.push_back(fmt::format(
          "{} events were lost because all buffers were full; use more or larger buffers "
          "(--buffers, --buffer-size), or --when-full wait",
          closing.lost_events));
    }
    if (lost_marks_ != 0) {
      missing.push_back(fmt::format(
          "{} marks were left out because the recording has too many names; give marks fewer names",
          lost_marks_));
    }
    if (damaged_ != 0) {
      missing.push_back(
          fmt::format("{} events make no sense, because the process has overwritten leakgate's "
                      "tables; look for wild writes, for example with -fsanitize=address",
                      damaged_));
    }
    return missing;
  }

  const RegionReader& region_;
  const std::shared_ptr<EventBuffers> buffers_;
  const RecorderSetup setup_;
  const EventMoment begin_;
  RecordingWriter writer_;
  RegionRecords records_;
  std::map<std::uint32_t, std::uint64_t> told_lost_buffers_;  // their begin times, by buffer
  std::uint64_t told_lost_ = 0;
  std::uint64_t lost_marks_ = 0;
  std::uint64_t damaged_ = 0;
  bool is_early_ = false;  // the last event that was read comes after the horizon
  bool was_on_ = true;
  bool was_paused_ = false;
  std::optional<Error> failure_;
};

Expected<std::unique_ptr<EventRecorder>> EventRecorder::Start(const RegionReader& region,
                                                              std::shared_ptr<EventBuffers> buffers,
                                                              RecorderSetup setup) {
  if (buffers == nullptr) return InconclusiveError("the process was not prepared for recording");
  const EventMoment begin = EventTimeNow(setup.unit);
  RecordingFacts facts{.process = setup.process,
                       .buffer_bytes = setup.request.buffer_bytes,
                       .buffer_count = setup.request.buffer_count,
                       .when_full = setup.request.when_full,
                       .clock = setup.unit.clock,
                       .unit_ns = setup.unit.ns,
                       .test = setup.test};
  facts.process.taken_ns = begin.monotonic_ns;
  facts.process.tracing_begin_ns = region.Window(1).begin_time_ns;
  LEAKGATE_TRY_ASSIGN(RecordingWriter writer,
                      RecordingWriter::Create(setup.path, setup.existing, facts));
  buffers->SetOn(true);
  std::function<bool()> has_ended = setup.has_ended;
  auto rounds = std::make_unique<Rounds>(region, std::move(buffers), std::move(setup), begin,
                                         std::move(writer));
  if (const Expected<void> copied = rounds->CopyLive(); !copied) {
    rounds->buffers().SetOn(false);
    return Unexpected(copied.error());
  }
  return std::unique_ptr<EventRecorder>(new EventRecorder(std::move(rounds), std::move(has_ended)));
}

EventRecorder::EventRecorder(std::unique_ptr<Rounds> rounds, std::function<bool()> has_ended)
    : rounds_(std::move(rounds)), has_ended_(std::move(has_ended)), thread_([this] { Serve(); }) {}

EventRecorder::~EventRecorder() {
  is_ending_.store(true, std::memory_order_relaxed);
  rounds_->buffers().Wake();
  if (thread_.joinable()) thread_.join();
}

bool EventRecorder::IsOver() const {
  return is_ending_.load(std::memory_order_relaxed) || rounds_->buffers().IsStopAsked() ||
         (has_ended_ && has_ended_());
}

void EventRecorder::Serve() {
  while (!IsOver()) {
    rounds_->Drain();
    if (rounds_->failure()) NoteProblem(rounds_->failure()->message);
    rounds_->buffers().WaitUntilFilled(kPatience);
  }
  rounds_->buffers().SetOn(false);
  closing_ = rounds_->Finish();
  if (!*closing_) NoteProblem(closing_->error().message);
}

void EventRecorder::NoteProblem(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  problem_ = problem;
}

std::string EventRecorder::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

Expected<RecordingClosing> EventRecorder::Finish() {
  is_ending_.store(true, std::memory_order_relaxed);
  rounds_->buffers().Wake();
  thread_.join();
  return *std::move(closing_);
}

}  // namespace leakgate
