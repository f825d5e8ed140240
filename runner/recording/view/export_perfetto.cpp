// Writes a recording as a Perfetto trace (a protobuf message, perfetto.protos.Trace), for
// ui.perfetto.dev and trace_processor:
//
//   live heap         a counter: bytes that are live, at most a point each millisecond
//   tests             a slice for each suite and test, and what the program has marked
//   heap profile      by call stack what the interval has allocated and freed, and a second one of
//                     the moment when most was live
//
// The field numbers are those of protos/perfetto/trace. tests/schemas/perfetto_trace.proto has
// them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "runner/base/path_text.h"
#include "runner/recording/view/export_recording.h"
#include "runner/recording/view/replay.h"
#include "runner/report/formats/pprof_encoding.h"
#include "runner/report/formats/stack_samples.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

namespace trace_field {
enum { kPacket = 1 };
}
namespace packet_field {
enum {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kSequenceFlags = 13
};
enum { kProfilePacket = 37, kTrackDescriptor = 60 };
}  // namespace packet_field
namespace clock_snapshot_field {
enum { kClocks = 1, kPrimaryTraceClock = 2 };
}
namespace clock_field {
enum { kClockId = 1, kTimestamp = 2 };
}
namespace track_field {
enum { kUuid = 1, kName = 2, kProcess = 3, kParentUuid = 5, kCounter = 8 };
}
namespace process_field {
enum { kPid = 1, kCommandLine = 2, kName = 6 };
}
namespace counter_field {
enum { kUnit = 3 };
}
namespace event_field {
enum { kType = 9, kTrackUuid = 11, kName = 23, kCounterValue = 30 };
}
namespace profile_field {
enum { kStrings = 1, kFrames, kCallstacks, kMappings, kProcessDumps, kContinued, kIndex };
}
namespace string_field {
enum { kIid = 1, kText };
}
namespace mapping_field {
enum { kIid = 1, kBuildId = 2, kPathStringIds = 7 };
}
namespace frame_field {
enum { kIid = 1, kFunctionNameId, kMappingId, kRelativePc };
}
namespace callstack_field {
enum { kIid = 1, kFrameIds };
}
namespace dump_field {
enum { kPid = 1, kSamples = 2, kFromStartup = 3, kTimestamp = 9 };
}
namespace sample_field {
enum { kCallstackId = 1, kAllocated, kFreed, kTimestamp, kAllocCount, kFreeCount, kIdle, kMax };
}

constexpr std::uint64_t kRealtime = 1;
constexpr std::uint64_t kMonotonic = 3;
constexpr std::uint64_t kMonotonicCoarse = 4;
constexpr std::uint64_t kBoottime = 6;
constexpr std::uint64_t kUnitBytes = 3;
constexpr std::uint64_t kClearsState = 1;
constexpr std::uint64_t kNeedsState = 2;
constexpr std::uint64_t kSequence = 1;

enum class EventType : std::uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
enum class Track : std::uint64_t { kProcess = 1, kLive = 2, kTests = 3 };

std::uint32_t Field(int number) { return static_cast<std::uint32_t>(number); }

class PerfettoTrace {
 public:
  PerfettoTrace(RecordingView& view, std::ostream& out)
      : view_(view), out_(out), zero_ns_(view.contents().facts.taken_ns) {}

  void Begin() {
    AddClocks();
    AddTracks();
  }

  // For Replay.
  void Allocated(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t) {
    Pass(time_ns);
    live_ += bytes;
    highest_ = std::max(highest_, live_);
    lowest_ = std::min(lowest_, live_);
  }
  void Freed(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t) {
    Pass(time_ns);
    live_ -= bytes;
    lowest_ = std::min(lowest_, live_);
  }
  void Other(const RecordedEvent& event) {
    Pass(event.time_ns);
    if (event.kind == RecordedKind::kMark) {
      AddEvent(event.time_ns, EventType::kInstant, Track::kTests, NameOfMark(event.mark), {});
      return;
    }
    const bool begins = event.kind == RecordedKind::kWindowBegins;
    if (!begins && event.kind != RecordedKind::kWindowEnds) return;
    const auto window = view_.contents().windows.find(event.window);
    const bool is_shown =
        window != view_.contents().windows.end() && window->second.kind != WindowKind::kProgram;
    if (!is_shown) return;
    // A begin may come twice.
    if (begins ? !open_.insert(event.window).second : open_.erase(event.window) == 0) return;
    AddEvent(event.time_ns, begins ? EventType::kSliceBegin : EventType::kSliceEnd, Track::kTests,
             begins ? NameOfWindow(view_.contents(), event.window) : "", {});
  }

  void End(std::uint64_t time_ns) {
    AddPoint();
    point_ns_ = time_ns;
    highest_ = lowest_ = live_;
    AddPoint();
    AddProfile(time_ns, Dump::kAll);
    if (view_.tally().HasPeak()) {
      AddProfile(std::max(view_.tally().peak().time_ns, view_.begin_ns()), Dump::kPeak);
    }
  }

 private:
  enum class Dump { kAll, kPeak };

  std::string NameOfMark(std::uint32_t mark) const {
    return mark < view_.marks().size() ? view_.marks()[mark] : "";
  }

  void AddPacket(std::uint64_t time_ns, int field, const ProtobufMessage& content,
                 std::uint64_t flags = kNeedsState) {
    ProtobufMessage packet;
    packet.AddNumber(packet_field::kTimestamp, zero_ns_ + time_ns);
    packet.AddNumber(packet_field::kSequenceId, kSequence);
    packet.AddNumber(packet_field::kSequenceFlags, flags);
    packet.AddMessage(Field(field), content);
    ProtobufMessage trace;
    trace.AddMessage(trace_field::kPacket, packet);
    out_ << trace.bytes();
  }

  // All clocks of the machine but that of the day agree with the recording's.
  void AddClocks() {
    ProtobufMessage snapshot;
    for (const std::uint64_t clock : {kBoottime, kMonotonic, kMonotonicCoarse, kRealtime}) {
      ProtobufMessage message;
      message.AddNumber(clock_field::kClockId, clock);
      message.AddNumber(clock_field::kTimestamp,
                        clock == kRealtime ? view_.contents().facts.taken_unix_ns : zero_ns_);
      snapshot.AddMessage(clock_snapshot_field::kClocks, message);
    }
    snapshot.AddNumber(clock_snapshot_field::kPrimaryTraceClock, kBoottime);
    AddPacket(0, packet_field::kClockSnapshot, snapshot, kClearsState);
  }

  void AddTracks() {
    const SnapshotFacts& facts = view_.contents().facts;
    ProtobufMessage process;
    process.AddNumber(process_field::kPid, static_cast<std::uint64_t>(facts.pid));
    for (const std::string& word : facts.command_line) {
      process.AddBytes(process_field::kCommandLine, Printable(word));
    }
    process.AddBytes(process_field::kName, Printable(FileNameIn(facts.name)));
    ProtobufMessage process_track = NewTrack(Track::kProcess, "");
    process_track.AddMessage(track_field::kProcess, process);
    AddPacket(0, packet_field::kTrackDescriptor, process_track);

    ProtobufMessage counter;
    counter.AddNumber(counter_field::kUnit, kUnitBytes);
    ProtobufMessage live = NewTrack(Track::kLive, "live heap");
    live.AddMessage(track_field::kCounter, counter);
    AddPacket(0, packet_field::kTrackDescriptor, live);
    AddPacket(0, packet_field::kTrackDescriptor, NewTrack(Track::kTests, "tests"));
  }

  static ProtobufMessage NewTrack(Track track, const char* name) {
    ProtobufMessage message;
    message.AddNumber(track_field::kUuid, static_cast<std::uint64_t>(track));
    if (track == Track::kProcess) return message;
    message.AddBytes(track_field::kName, name);
    message.AddNumber(track_field::kParentUuid, static_cast<std::uint64_t>(Track::kProcess));
    return message;
  }

  void AddEvent(std::uint64_t time_ns, EventType type, Track track, const std::string& name,
                std::optional<std::uint64_t> value) {
    ProtobufMessage event;
    event.AddNumber(event_field::kType, static_cast<std::uint64_t>(type));
    event.AddNumber(event_field::kTrackUuid, static_cast<std::uint64_t>(track));
    if (!name.empty()) event.AddBytes(event_field::kName, Printable(name));
    if (value) event.AddPresentNumber(event_field::kCounterValue, *value);
    AddPacket(time_ns, packet_field::kTrackEvent, event);
  }

  // The counter gets the highest value of each step, and the lowest if it differs: so neither a
  // peak nor a trough is left out. Steps grow with time, so that a trace of any length can be
  // opened.
  void Pass(std::uint64_t time_ns) {
    if (time_ns < next_point_ns_) return;
    AddPoint();
    constexpr std::uint64_t kStepNs = 1'000'000;
    constexpr std::uint64_t kPoints = 50'000;
    const std::uint64_t passed = time_ns - std::min(time_ns, view_.begin_ns());
    point_ns_ = time_ns;
    next_point_ns_ = time_ns + std::max(kStepNs, passed / kPoints);
    highest_ = lowest_ = live_;
  }
  void AddPoint() {
    if (point_ns_ == kNoPoint) return;
    AddEvent(point_ns_, EventType::kCounter, Track::kLive, "", highest_);
    if (lowest_ == highest_) return;
    const std::uint64_t middle = (std::min(next_point_ns_, view_.end_ns()) - point_ns_) / 2;
    AddEvent(point_ns_ + middle, EventType::kCounter, Track::kLive, "", lowest_);
  }

  // Each heap profile has tables of its own.
  void AddProfile(std::uint64_t time_ns, Dump kind) {
    ProtobufMessage profile;
    std::map<std::string, std::uint64_t> strings;
    std::map<std::string, std::uint64_t> mappings;
    std::map<FrameId, std::uint64_t> frames;
    const auto text_of = [&](const std::string& text) {
      const auto [known, is_new] = strings.try_emplace(text, strings.size() + 1);
      if (is_new) {
        ProtobufMessage message;
        message.AddNumber(string_field::kIid, known->second);
        message.AddBytes(string_field::kText, text);
        profile.AddMessage(profile_field::kStrings, message);
      }
      return known->second;
    };
    const auto mapping_of = [&](const std::string& path) {
      const auto [known, is_new] = mappings.try_emplace(path, mappings.size() + 1);
      if (is_new) {
        ProtobufMessage message;
        message.AddNumber(mapping_field::kIid, known->second);
        message.AddNumber(mapping_field::kBuildId, text_of(""));
        message.AddNumber(mapping_field::kPathStringIds, text_of(Printable(path)));
        profile.AddMessage(profile_field::kMappings, message);
      }
      return known->second;
    };
    const auto frame_of = [&](FrameId id) {
      const auto [known, is_new] = frames.try_emplace(id, frames.size() + 1);
      if (is_new) {
        const Frame& frame = view_.frames().Get(id);
        ProtobufMessage message;
        message.AddNumber(frame_field::kIid, known->second);
        message.AddNumber(frame_field::kFunctionNameId, text_of(ProfileFrameName(frame)));
        message.AddNumber(frame_field::kMappingId, mapping_of(frame.module));
        message.AddPresentNumber(frame_field::kRelativePc, frame.module_offset);
        profile.AddMessage(profile_field::kFrames, message);
      }
      return known->second;
    };

    ProtobufMessage dump;
    dump.AddNumber(dump_field::kPid, static_cast<std::uint64_t>(view_.contents().facts.pid));
    dump.AddNumber(dump_field::kFromStartup, 1);
    dump.AddNumber(dump_field::kTimestamp, zero_ns_ + time_ns);
    const EventTally& tally = view_.tally();
    for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
      const RecordedCounts& counts = tally.by_stack()[i];
      if (SumOf(counts, kind == Dump::kPeak ? Weigh::kPeak : Weigh::kTotal).blocks == 0) continue;
      ProtobufMessage callstack;
      callstack.AddNumber(callstack_field::kIid, i + 1);
      std::vector<FrameId> stack = view_.frames().FramesOf(tally.stacks()[i]);
      std::reverse(stack.begin(), stack.end());
      for (const FrameId id : stack) {
        callstack.AddNumber(callstack_field::kFrameIds, frame_of(id));
      }
      profile.AddMessage(profile_field::kCallstacks, callstack);
      dump.AddMessage(dump_field::kSamples, SampleOf(i + 1, counts, time_ns, kind));
    }
    profile.AddMessage(profile_field::kProcessDumps, dump);
    profile.AddNumber(profile_field::kIndex, kind == Dump::kPeak ? 1 : 0);
    AddPacket(time_ns, packet_field::kProfilePacket, profile);
  }

  ProtobufMessage SampleOf(std::uint64_t callstack, const RecordedCounts& counts,
                           std::uint64_t time_ns, Dump kind) const {
    ProtobufMessage sample;
    sample.AddNumber(sample_field::kCallstackId, callstack);
    sample.AddNumber(sample_field::kTimestamp, zero_ns_ + time_ns);
    if (kind == Dump::kPeak) {
      sample.AddNumber(sample_field::kMax, counts.at_peak.bytes);
      sample.AddNumber(sample_field::kAllocCount, counts.at_peak.blocks);
      return sample;
    }
    sample.AddNumber(sample_field::kAllocated, counts.total.bytes);
    sample.AddNumber(sample_field::kFreed, counts.inside_freed.bytes);
    sample.AddNumber(sample_field::kAllocCount, counts.total.blocks);
    sample.AddNumber(sample_field::kFreeCount, counts.inside_freed.blocks);
    return sample;
  }

  static constexpr std::uint64_t kNoPoint = UINT64_MAX;

  RecordingView& view_;
  std::ostream& out_;
  std::uint64_t zero_ns_;
  std::set<std::uint32_t> open_;  // windows that have begun, and not ended
  std::uint64_t live_ = 0;
  std::uint64_t highest_ = 0;
  std::uint64_t lowest_ = 0;
  std::uint64_t point_ns_ = kNoPoint;
  std::uint64_t next_point_ns_ = 0;
};

}  // namespace

Expected<void> WritePerfettoTrace(RecordingView& view, std::ostream& out) {
  PerfettoTrace trace(view, out);
  trace.Begin();
  Replay<PerfettoTrace> replay(view, trace);
  if (const Expected<void> read = replay.Run(); !read) return read;
  trace.End(view.end_ns());
  return {};
}

}  // namespace leakgate
