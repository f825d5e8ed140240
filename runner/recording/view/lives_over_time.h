// Counts the blocks of a recording so that any part of its time can be shown afterwards: by the
// bins of time in which they were allocated and freed (time_grid.h), by stack, and by how long they
// lived. The sum of the lives of the right bins is what EventTally counts for that interval:
//
//             freed in    bin 0   bin 1   bin 2   never
//   allocated before        .       A       A       B      the interval of bins 1 and 2:
//          in bin 0         .       A       A       B      A freed in it, allocated before
//          in bin 1                 C       C       D      C allocated and freed in it
//          in bin 2                         C       D      D outstanding
//
// Its memory is limited, whatever is recorded: if there are too many lives, neighbouring bins are
// merged, and less important stacks are counted as the rest of their call site. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/event_player.h"
#include "runner/recording/view/event_tally.h"
#include "runner/recording/view/interval.h"
#include "runner/recording/view/life_table.h"
#include "runner/recording/view/live_curve.h"
#include "runner/recording/view/recorded_counts.h"
#include "runner/recording/view/time_grid.h"

namespace leakgate {

struct LivesOptions {
  Interval interval{};           // what happens before and after it is in no bin
  std::uint64_t begin_ns = 0;    // of the interval
  std::uint64_t end_ns = 0;      // likewise
  std::uint64_t fixed_ns = 0;    // where there is always a border; 0: nowhere
  NumberRange size_bytes{};      // which blocks are counted
  std::size_t steps = 1024;      // how many parts of the same length there are at most
  std::size_t bins = 4000;       // how many bins there are at most
  std::size_t lives = 600'000;   // how many separate lives there are at most
  std::size_t points = 2000;     // of the curve
  std::size_t windows = 10'000;  // how many windows and marks are kept at most
  std::size_t marks = 500;
};

// The numbers that stand for stacks. From 1 on, there are those that can become a part of a rest,
// the most important ones first. The numbers after them, and 0, stand for rests.
struct StackNumbers {
  static constexpr std::uint32_t kNotCounted = UINT32_MAX;

  // By stack id. Blocks of stacks that are kNotCounted, or beyond the end, are not counted.
  std::vector<std::uint32_t> of_stack;
  // The number of its rest, by these numbers. 0 has itself.
  std::vector<std::uint32_t> rest_of{0};
};

// The most that was live in a bin.
struct BinPeak {
  RecordedSum live{};
  std::uint64_t time_ns = 0;
  std::uint32_t window = 0;  // the window to which the allocation is charged; 0: not known
};

class LivesOverTime {
 public:
  LivesOverTime(LivesOptions options, StackNumbers numbers);
  LivesOverTime(const LivesOverTime&) = delete;
  LivesOverTime& operator=(const LivesOverTime&) = delete;

  void AddLive(std::span<const LiveBlock> blocks);
  // Reports that a window was already open when the recording began.
  void AddOpenWindow(std::uint32_t window) { Open(window, 0); }
  void Add(std::span<const RecordedEvent> events);
  // Ends the recording. Must be called once; what follows is complete afterwards.
  void Finish(std::uint64_t end_ns);
  // Merges bins, or makes half of the stacks parts of their rests. Returns false if nothing is left
  // to be merged.
  bool Reduce();
  // Lives have no numbers of stacks above this one, except those of rests.
  [[nodiscard]] std::uint32_t kept_stacks() const { return kept_stacks_; }

  // The bins' borders: one more than there are bins.
  [[nodiscard]] std::vector<std::uint64_t> Borders() const { return grid_.Borders(); }
  // Blocks that are not freed in a bin are in one of two more: freed after the interval, or never.
  [[nodiscard]] std::vector<Life> Lives() const;
  [[nodiscard]] const std::vector<BinPeak>& peaks() const { return peaks_; }
  [[nodiscard]] const LiveCurve& curve() const { return curve_; }

  struct Span {
    std::uint32_t window = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  struct Mark {
    std::uint32_t mark = 0;
    std::uint64_t time_ns = 0;
  };
  // The first ones, in the order of their begins; all are counted.
  [[nodiscard]] const std::vector<Span>& windows() const { return windows_; }
  [[nodiscard]] std::uint64_t window_count() const { return window_count_; }
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  [[nodiscard]] std::uint64_t mark_count() const { return mark_count_; }

  // For EventPlayer only.
  void Lost(const RecordedEvent&) {}
  void Comes(const RecordedEvent& event);
  void FollowPhase();
  void Before(const RecordedEvent& event);
  void After(const RecordedEvent& event);
  void WasLive(RecordedBlock& block);
  void Allocated(RecordedBlock& block);
  void IsLive(const RecordedBlock& block);
  void Freed(RecordedBlock& block, const BlockEnd& end);
  void FreedEarlier(const RecordedBlock& block, const BlockEnd& end);
  void Restored(RecordedBlock& block, const BlockEnd& end);

 private:
  using Phase = IntervalWatch::Phase;

  void BeginInterval();
  void PassTime(std::uint64_t time_ns);
  void FollowBins();
  void SetLive(std::uint64_t time_ns);

  void Open(std::uint32_t window, std::uint64_t time_ns);
  void Close(std::uint32_t window, std::uint64_t time_ns);
  std::size_t AddSpan(std::uint32_t window, std::uint64_t time_ns);
  void AddMark(const RecordedEvent& event);

  bool MergeBins();
  void FoldStacks();
  [[nodiscard]] std::uint32_t NumberNow(std::uint32_t number) const {
    return number > kept_stacks_ && number < numbers_.rest_of.size() ? numbers_.rest_of[number]
                                                                     : number;
  }

  void Choose(RecordedBlock& block);
  [[nodiscard]] LifeKey KeyOf(const RecordedBlock& block, std::size_t freed_bin,
                              std::uint64_t end_ns) const;
  [[nodiscard]] std::size_t BinNow() const { return grid_.bin_count() - 1; }

  const LivesOptions options_;
  const StackNumbers numbers_;
  std::uint32_t kept_stacks_;
  EventPlayer<LivesOverTime> player_;
  Phase phase_;
  TimeGrid grid_;
  LifeTable lives_;
  LiveCurve curve_;
  std::vector<BinPeak> peaks_;
  RecordedSum live_;
  std::uint64_t now_ns_ = 0;

  struct OpenWindow {
    std::uint32_t window = 0;
    std::size_t span = 0;
  };
  std::vector<OpenWindow> open_;
  std::vector<Span> windows_;
  std::uint64_t window_count_ = 0;
  std::vector<Mark> marks_;
  std::uint64_t mark_count_ = 0;
};

}  // namespace leakgate
