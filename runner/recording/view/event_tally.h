// Counts the events of a recording, in one pass: for each stack, thread, test, kind and size of
// block, what an interval allocated, freed, left, had at its peak and allocated only for a moment.
// Its memory grows with stacks and live blocks, not with events. Pure.
//
// Each stack's share of the peak is found without a second pass, and without a copy of all stacks
// at each new peak: a stack's live amount is kept only when it next changes (KeepPeak).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/commit_tally.h"
#include "runner/recording/view/event_player.h"
#include "runner/recording/view/interval.h"
#include "runner/recording/view/lifetimes.h"
#include "runner/recording/view/losses.h"
#include "runner/recording/view/recorded_counts.h"

namespace leakgate {

// A range of numbers, both ends included.
struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;

  [[nodiscard]] bool Has(std::uint64_t number) const { return number >= least && number <= most; }
  [[nodiscard]] bool HasAll() const { return least == 0 && most == UINT64_MAX; }
};

// Which blocks are counted.
struct RecordedBlockFilter {
  NumberRange size_bytes{};
  // A block that was not freed in the interval has the age that it has at the interval's end.
  NumberRange lifetime_ns{};
  std::function<bool(std::uint32_t stack)> has_stack{};  // empty: all have
};

// The moment of an interval at which most was live.
struct RecordedPeak {
  RecordedSum live{};
  std::uint64_t time_ns = 0;
  // The number of the event that made it, from 1; 0: it was there when the interval began.
  std::uint64_t event = 0;
  std::uint32_t window = 0;  // the window to which the allocation is charged; 0: not known
};

class EventTally {
 public:
  explicit EventTally(Interval interval, RecordedBlockFilter filter = {});
  EventTally(const EventTally&) = delete;
  EventTally& operator=(const EventTally&) = delete;

  void AddLive(std::span<const LiveBlock> blocks) { player_.AddLive(blocks); }
  void AddMapping(const SnapshotMapping& mapping) { commits_.Add(mapping); }
  // Reports that a window was already open when the recording began.
  void AddOpenWindow(std::uint32_t window) { open_windows_.push_back(window); }
  void Add(std::span<const RecordedEvent> events);
  // Ends the recording. Must be called once; what follows is complete afterwards.
  void Finish(std::uint64_t end_ns);

  [[nodiscard]] const RecordedCounts& all() const { return all_; }
  // Returns whether the peak is known: it is not if blocks are chosen by their lifetimes.
  [[nodiscard]] bool HasPeak() const { return !is_by_lifetime_; }
  [[nodiscard]] const RecordedPeak& peak() const { return peak_; }
  // Indexed by id. Ids beyond the end have nothing.
  [[nodiscard]] const std::vector<RecordedCounts>& by_thread() const { return by_thread_; }
  [[nodiscard]] const std::vector<RecordedCounts>& by_window() const { return by_window_; }
  [[nodiscard]] const std::array<RecordedCounts, 16>& by_kind() const { return by_kind_; }
  // Class n has blocks of at most 1 << n bytes, and more than half of that.
  [[nodiscard]] const std::array<RecordedCounts, 64>& by_size() const { return by_size_; }

  // The stacks that have anything, in the order of their first event, and their counts.
  [[nodiscard]] const std::vector<std::uint32_t>& stacks() const { return stacks_; }
  [[nodiscard]] const std::vector<RecordedCounts>& by_stack() const { return by_stack_; }
  // Their stacks are indices of `stacks`.
  [[nodiscard]] const LifetimesByStack& lifetimes() const { return lifetimes_; }
  [[nodiscard]] const LifetimeDecades& decades() const { return decades_; }
  // What was freed in the interval, by the stack that freed it, if these stacks were recorded.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, RecordedSum>>& freed_by() const {
    return freed_by_;
  }
  // The most that was live while a window was open in the interval, by window.
  struct Highest {
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
  };
  [[nodiscard]] const std::vector<Highest>& highest_by_window() const { return highest_; }

  // The mappings that the program has made itself. They are not filtered by size or lifetime.
  [[nodiscard]] CommitTally& commits() { return commits_; }
  [[nodiscard]] const CommitTally& commits() const { return commits_; }

  [[nodiscard]] const IntervalWatch& interval() const { return player_.watch(); }
  [[nodiscard]] const Losses& losses() const { return losses_; }
  // How many events there were, without those that report lost ones.
  [[nodiscard]] std::uint64_t events() const { return events_ - losses_.tellings(); }
  // How many events the interval has.
  [[nodiscard]] std::uint64_t events_inside() const { return events_inside_; }
  [[nodiscard]] std::uint64_t unknown_frees() const { return player_.lives().unknown_frees(); }

  // For EventPlayer only.
  void Lost(const RecordedEvent& event);
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

  // Calls `use` with all the counts that `block` is in, except for `all_`.
  template <typename Use>
  void ForEachCounts(const RecordedBlock& block, const Use& use);
  // Called before `live` changes: the amount that has been live since the last peak was live at
  // that peak.
  void KeepPeak(RecordedCounts& counts) const {
    if (counts.peak_version == peak_version_) return;
    counts.at_peak = counts.live;
    counts.peak_version = peak_version_;
  }

  void BeginInterval(std::uint64_t time_ns);
  void EndInterval(std::uint64_t time_ns);

  void Choose(RecordedBlock& block);
  bool HasStack(std::uint32_t stack);
  bool HasLifetime(const RecordedBlock& block, std::uint64_t end_ns) const;
  void CountAllocated(const RecordedBlock& block);
  void CountFreed(const RecordedBlock& block, const BlockEnd& end);
  void CountFreedBy(std::uint32_t stack, std::uint64_t bytes);
  void RaisePeak(std::uint32_t window);
  std::uint32_t IndexOf(std::uint32_t stack);
  void EndSegment();

  RecordedBlockFilter filter_;
  const bool is_by_lifetime_;
  EventPlayer<EventTally> player_;
  Phase phase_;
  CommitTally commits_;
  Losses losses_;
  std::uint64_t events_ = 0;
  std::uint64_t events_inside_ = 0;
  std::uint64_t now_ns_ = 0;

  RecordedCounts all_;
  RecordedPeak peak_;
  std::uint32_t peak_version_ = 1;  // raised at each new highest peak
  std::vector<std::uint32_t> stacks_;
  std::vector<RecordedCounts> by_stack_;
  std::vector<std::uint32_t> index_of_stack_;  // by stack id; the index plus 1
  std::vector<std::uint8_t> has_stack_;        // by stack id; 0: not asked yet, 1: no, 2: yes
  std::vector<RecordedCounts> by_thread_;
  std::vector<RecordedCounts> by_window_;
  std::array<RecordedCounts, 16> by_kind_{};
  std::array<RecordedCounts, 64> by_size_{};
  LifetimesByStack lifetimes_;
  LifetimeDecades decades_;
  std::vector<std::pair<std::uint32_t, RecordedSum>> freed_by_;
  std::vector<std::uint32_t> index_of_freeing_;  // by stack id; the index plus 1

  // The most that was live since a window last began or ended, for all windows that are open.
  Highest segment_;
  std::vector<std::uint32_t> open_windows_;
  std::vector<Highest> highest_;
};

}  // namespace leakgate
