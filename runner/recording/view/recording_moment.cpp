#include "runner/recording/view/recording_moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "runner/recording/view/block_lives.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

using Kind = RecordingTime::Kind;

// Counts only the totals that were allocated and freed.
struct TotalsSink {
  Totals totals{};

  void WasLive(RecordedBlock& block) { Allocated(block); }
  void Allocated(RecordedBlock& block) {
    totals.allocated_bytes += block.size_bytes;
    ++totals.allocated_blocks;
  }
  void IsLive(const RecordedBlock&) {}
  void Freed(RecordedBlock& block, const BlockEnd&) {
    totals.freed_bytes += block.size_bytes;
    ++totals.freed_blocks;
  }
  void FreedEarlier(const RecordedBlock&, const BlockEnd&) {}
  void Restored(RecordedBlock& block, const BlockEnd&) {
    totals.freed_bytes -= block.size_bytes;
    --totals.freed_blocks;
  }
};

class MomentReading {
 public:
  MomentReading(const std::string& name, const RecordingMoment& moment)
      : moment_(moment),
        finder_(contents_, marks_),
        bound_(finder_.BoundOf(moment.time, Side::kEnd)),
        lives_(sink_) {
    contents_.file = name;
  }

  Expected<void> Read(const RecordingSource& recording) {
    RecordingVisitor visitor;
    KeepContents(visitor, contents_, marks_);
    visitor.facts = [this](RecordingFacts&& facts) { contents_.facts = std::move(facts.process); };
    visitor.blocks = [this](std::span<const LiveBlock> blocks) {
      for (const LiveBlock& block : blocks) lives_.Add(block);
      return Expected<void>();
    };
    visitor.mapping = [this](SnapshotMapping&& mapping) { commits_.Add(mapping); };
    visitor.events = [this](std::span<const RecordedEvent> events) { return Use(events); };
    visitor.closing = [this](RecordingClosing&& closing) {
      contents_.closing = closing.process;
      length_ns_ = closing.end_ns;
      missing_ = std::move(closing.missing);
    };
    const Expected<void> read = ReadAhead(recording, visitor);
    if (is_there_) return {};
    if (!read) return read;
    now_ns_ = std::max(now_ns_, length_ns_);
    const bool is_end = moment_.time.kind == Kind::kEnd ||
                        (moment_.time.kind == Kind::kTime && moment_.time.time_ns <= now_ns_);
    if (moment_.time.kind == Kind::kTime && is_end) now_ns_ = moment_.time.time_ns;
    if (is_end || moment_.event != 0) return {};
    const Expected<void> known = finder_.Check("--at", moment_.time, now_ns_);
    if (!known) return known;
    return UsageError(fmt::format("--at {}: this moment never comes in {}; name another one",
                                  moment_.time.text, contents_.file));
  }

  Expected<void> Give(const SnapshotVisitor& visitor) {
    SetFacts();
    if (visitor.facts) visitor.facts(SnapshotFacts(contents_.facts));
    for (auto& [id, module] : contents_.modules) {
      if (visitor.module) visitor.module(SnapshotModule(module));
    }
    for (auto& [id, window] : contents_.windows) {
      const bool was_open = window.end_ns == 0 || window.end_ns > contents_.facts.taken_ns;
      SnapshotWindow then = window;
      if (was_open) {
        then.end_ns = 0;
        then.state = WindowState::kOpen;
      }
      if (visitor.window) visitor.window(std::move(then));
    }
    for (auto& [id, thread] : contents_.threads) {
      if (visitor.thread) visitor.thread(SnapshotThread(thread));
    }
    if (visitor.nodes) {
      visitor.nodes(std::span<const SnapshotNode>(contents_.nodes).subspan(kStackRootCount));
    }
    if (const Expected<void> given = EmitBlocks(visitor); !given) return given;
    std::vector<SnapshotMapping> mappings = commits_.Mappings();
    for (SnapshotMapping& mapping : mappings) {
      mapping.mapped_ns += begin_ns_;
      if (visitor.mapping) visitor.mapping(std::move(mapping));
    }
    if (visitor.pages) visitor.pages({.problem = "recordings do not contain it"});
    if (visitor.closing) visitor.closing(Closing(mappings.size()));
    return {};
  }

 private:
  static Unexpected Stop() { return InconclusiveError("read far enough"); }

  // Ends the reading by an error once the moment has come.
  Expected<void> Use(std::span<const RecordedEvent> events) {
    for (const RecordedEvent& event : events) {
      if (moment_.event == 0 && !bound_.is_at && event.kind != RecordedKind::kLost &&
          event.time_ns > bound_.time_ns) {
        now_ns_ = bound_.time_ns;
        is_there_ = true;
        return Stop();
      }
      ++count_;
      Use(event);
      is_there_ =
          moment_.event != 0 ? count_ == moment_.event : bound_.is_at && bound_.is_at(event);
      if (is_there_) return Stop();
    }
    return {};
  }

  void Use(const RecordedEvent& event) {
    if (event.kind != RecordedKind::kLost) now_ns_ = event.time_ns;
    switch (event.kind) {
      case RecordedKind::kAllocate:
        return lives_.Allocate(event);
      case RecordedKind::kFree:
        return lives_.Free(event);
      case RecordedKind::kRestore:
        return lives_.Restore(event);
      case RecordedKind::kWindowBegins:
        window_ = event.window;
        return;
      case RecordedKind::kLost:
      case RecordedKind::kPause:
        lost_ += event.kind == RecordedKind::kLost ? event.size_bytes : 0;
        was_paused_ = was_paused_ || event.kind == RecordedKind::kPause;
        return lives_.SetLossy();
      default:
        commits_.Add(event, IntervalWatch::Phase::kInside);
    }
  }

  void SetFacts() {
    SnapshotFacts& facts = contents_.facts;
    begin_ns_ = facts.taken_ns;
    // This makes all moments of a recording belong to one process.
    if (facts.tracing_begin_ns == 0) facts.tracing_begin_ns = begin_ns_;
    facts.taken_ns += now_ns_;
    facts.taken_unix_ns += now_ns_;
    facts.moment = SnapshotMoment::kStopped;
    facts.occasion = moment_.occasion;
    for (std::string& missing : missing_) facts.not_recorded.push_back(std::move(missing));
    if (lost_ != 0) {
      facts.not_recorded.push_back(
          fmt::format("{} were lost before this moment: what is live may be wrong",
                      FormatCount(static_cast<std::int64_t>(lost_), "event")));
    }
    if (was_paused_) {
      facts.not_recorded.emplace_back(
          "the recording was paused before this moment: what is live may be wrong");
    }
  }

  Expected<void> EmitBlocks(const SnapshotVisitor& visitor) {
    std::vector<LiveBlock> blocks;
    lives_.live().ForEach([&](const RecordedBlock& block) {
      if (!moment_.size_bytes.Has(block.size_bytes) ||
          !moment_.age_ns.Has(now_ns_ - std::min(now_ns_, block.allocated_ns))) {
        return;
      }
      blocks.push_back({.address = block.address,
                        .size_bytes = block.size_bytes,
                        .kind = block.Kind(),
                        .stack = static_cast<std::uint32_t>(block.stack),
                        .window = static_cast<std::uint32_t>(block.window),
                        .thread = static_cast<std::uint32_t>(block.thread)});
    });
    std::sort(blocks.begin(), blocks.end(),
              [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    for (const LiveBlock& block : blocks) live_bytes_ += block.size_bytes;
    live_blocks_ = blocks.size();
    if (!visitor.blocks) return {};
    constexpr std::size_t kAtOnce = 4096;
    const std::span<const LiveBlock> all(blocks);
    for (std::size_t at = 0; at < all.size(); at += kAtOnce) {
      const Expected<void> used =
          visitor.blocks(all.subspan(at, std::min(kAtOnce, all.size() - at)));
      if (!used) return used;
    }
    return {};
  }

  SnapshotClosing Closing(std::size_t mappings) const {
    SnapshotClosing closing = contents_.closing;
    closing.blocks = live_blocks_;
    closing.bytes = live_bytes_;
    closing.mappings = mappings;
    closing.finished_ns = contents_.facts.taken_ns;
    closing.since_begin = sink_.totals;
    closing.current_window = contents_.windows.contains(window_) ? window_ : 0;
    closing.window_count = static_cast<std::uint32_t>(contents_.windows.size()) + 1;
    closing.thread_count = static_cast<std::uint32_t>(contents_.threads.size()) + 1;
    closing.agent_state = AgentState::kTracing;
    return closing;
  }

  const RecordingMoment& moment_;
  SnapshotContents contents_;
  std::vector<std::string> marks_;
  MomentFinder finder_;
  IntervalBound bound_;
  TotalsSink sink_;
  BlockLives<TotalsSink> lives_;
  CommitTally commits_{nullptr};
  std::uint64_t count_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t length_ns_ = 0;
  std::uint32_t window_ = 0;
  std::uint64_t lost_ = 0;
  bool was_paused_ = false;
  bool is_there_ = false;
  std::vector<std::string> missing_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_blocks_ = 0;
};

}  // namespace

SnapshotSource SnapshotAt(RecordingSource recording, std::string name, RecordingMoment moment) {
  return [recording = std::move(recording), name = std::move(name),
          moment = std::move(moment)](const SnapshotVisitor& visitor) -> Expected<void> {
    MomentReading reading(name, moment);
    if (const Expected<void> read = reading.Read(recording); !read) return read;
    return reading.Give(visitor);
  };
}

RecordingMoment PeakOf(const RecordingView& view) {
  const RecordedPeak& peak = view.tally().peak();
  std::string occasion = fmt::format("the peak{}, {} after the recording began",
                                     view.query().HasInterval() ? " of the interval" : "",
                                     FormatDuration(std::chrono::nanoseconds(peak.time_ns)));
  RecordingMoment moment{.event = peak.event,
                         .occasion = std::move(occasion),
                         .size_bytes = view.query().size_bytes,
                         .age_ns = view.query().lifetime_ns};
  moment.time = {.kind = Kind::kTime, .time_ns = peak.time_ns};
  return moment;
}

}  // namespace leakgate
