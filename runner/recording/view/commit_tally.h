// Counts the mappings that a program has made itself: who committed which memory, when, and until
// when. Memory is committed if the program can use it. It may be reserved first and committed in
// parts later, and parts of a commit may be returned:
//
//   mmap, reserved   [ .................... ]
//   mprotect         [ ....... CCCCCCCC .... ]   one commit
//   madvise          [ ....... CC....CC .... ]   half of it is decommitted; it is still one commit
//   munmap                                       the rest is decommitted
//
// Its memory grows with the number of simultaneous mappings and commits, and with stacks. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/interval.h"
#include "runner/recording/view/recorded_counts.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// Memory that one call has committed.
struct Commit {
  std::uint64_t number = 0;  // in the order of their events
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  AllocationKind kind = AllocationKind::kMapped;
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint64_t committed_ns = 0;     // since the recording began
  std::uint64_t decommitted_ns = 0;   // when the last part of it was returned; 0: it has not been
  bool is_inside = false;             // it was committed in the interval
  std::uint64_t impacting_bytes = 0;  // committed in the interval, and still so at its end
};

// What one stack has committed. Amounts count commits instead of blocks; a partly returned commit
// counts as long as any of it is committed.
struct CommitCounts {
  RecordedSum total;             // committed in the interval
  RecordedSum outstanding;       // of these, committed still at its end: the impacting size
  RecordedSum live;              // committed at its end, by whatever commit
  std::uint64_t longest_ns = 0;  // of those that were returned in the interval
};

class CommitTally {
 public:
  using Phase = IntervalWatch::Phase;

  // Counts commits of stacks for which `has_stack` returns true.
  explicit CommitTally(std::function<bool(std::uint32_t stack)> has_stack)
      : has_stack_(std::move(has_stack)) {}

  // Sets how many of the largest commits are kept one by one.
  void Keep(std::size_t most) { most_kept_ = most; }

  // Adds a mapping from before the recording.
  void Add(const SnapshotMapping& mapping);
  // Handles an event of the kinds kMap, kUnmap, kCommit and kDecommit.
  void Add(const RecordedEvent& event, Phase phase);
  void BeginInterval(std::uint64_t time_ns);
  void EndInterval();
  // Ends the counting. What follows is complete afterwards.
  void Finish();

  [[nodiscard]] const CommitCounts& all() const { return all_; }
  [[nodiscard]] const std::map<std::uint32_t, CommitCounts>& by_stack() const { return by_stack_; }
  // The most that was committed at one time in the interval, and when.
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }
  [[nodiscard]] std::uint64_t peak_ns() const { return peak_ns_; }
  // The largest commits that were committed at some time in the interval; the largest first.
  [[nodiscard]] std::vector<Commit> Largest() const { return {largest_.begin(), largest_.end()}; }
  [[nodiscard]] bool empty() const { return !has_any_; }

  // What is mapped now, as a snapshot has it. Times are since the recording began.
  [[nodiscard]] std::vector<SnapshotMapping> Mappings() const;

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::uint64_t commit = 0;  // its number; 0: the piece is reserved
    AllocationKind kind = AllocationKind::kMapped;
    std::uint32_t stack = 0;  // that mapped it, as the next ones
    std::uint32_t window = 0;
    std::uint32_t thread = 0;
    std::uint64_t mapped_ns = 0;
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by address
  struct OpenCommit {
    Commit commit;
    std::uint64_t left_bytes = 0;  // that are still committed
    bool is_counted = false;
  };
  struct LargestFirst {
    bool operator()(const Commit& a, const Commit& b) const {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.number < b.number;
    }
  };

  // Cuts pieces in two where a range begins and ends. Returns the first piece in it.
  Pieces::iterator Cut(std::uint64_t begin, std::uint64_t end);
  void Unmap(std::uint64_t begin, std::uint64_t end, std::uint64_t time_ns, Phase phase);
  void CommitRange(std::uint64_t begin, std::uint64_t end, const RecordedEvent& event, Phase phase);
  std::uint64_t Open(const RecordedEvent& event, std::uint64_t bytes, Phase phase);
  void Decommit(std::uint64_t commit, std::uint64_t bytes, std::uint64_t time_ns, Phase phase);
  void Close(OpenCommit& open, Phase phase);
  void KeepIfLarge(const Commit& commit);
  void RaisePeak(std::uint64_t time_ns);

  std::function<bool(std::uint32_t stack)> has_stack_;
  std::size_t most_kept_ = 0;
  Pieces pieces_;
  std::unordered_map<std::uint64_t, OpenCommit> open_;  // by number
  std::uint64_t last_number_ = 0;
  CommitCounts all_;
  std::map<std::uint32_t, CommitCounts> by_stack_;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t peak_ns_ = 0;
  std::set<Commit, LargestFirst> largest_;
  bool has_any_ = false;
  bool is_over_ = false;
};

}  // namespace leakgate
