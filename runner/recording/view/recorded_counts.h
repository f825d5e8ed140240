// The counts of the blocks of a recording, for each stack, thread, test and so on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/region/amount.h"

namespace leakgate {

// Bytes and blocks as they are counted: for each event, and from untrusted files. So sums wrap
// around instead of being checked.
struct RecordedSum {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;

  void Add(std::uint64_t size_bytes) {
    bytes += size_bytes;
    ++blocks;
  }
  void Remove(std::uint64_t size_bytes) {
    bytes -= size_bytes;
    --blocks;
  }
  [[nodiscard]] Amount amount() const { return AmountOf(bytes, blocks); }
  friend bool operator==(const RecordedSum&, const RecordedSum&) = default;
};

inline RecordedSum& operator+=(RecordedSum& a, const RecordedSum& b) {
  a.bytes += b.bytes;
  a.blocks += b.blocks;
  return a;
}
inline RecordedSum operator-(const RecordedSum& a, const RecordedSum& b) {
  return {a.bytes - b.bytes, a.blocks - b.blocks};
}

// How blocks are related to an interval, which is the whole recording or a part of it.
//
//                  freed in the interval     not freed in it
//   allocated before    before_freed              BeforeKept
//   allocated in it     inside_freed              Outstanding, the impacting size
struct RecordedCounts {
  RecordedSum total;  // allocated in the interval
  RecordedSum inside_freed;
  RecordedSum before_freed;
  RecordedSum live;       // at the interval's end
  RecordedSum temporary;  // of inside_freed: see BlockEnd
  RecordedSum later;      // of Outstanding: freed after the interval, before the recording ended
  RecordedSum at_peak;    // live when most was live in the interval
  std::uint64_t longest_ns = 0;             // lifetime of inside_freed
  std::uint32_t first_window = UINT32_MAX;  // the earliest window of those that total counts
  std::uint32_t last_window = 0;
  std::uint32_t peak_version = 0;  // for counting: the peak to which `at_peak` belongs

  [[nodiscard]] RecordedSum Outstanding() const { return total - inside_freed; }
  [[nodiscard]] RecordedSum BeforeKept() const { return live - Outstanding(); }
  [[nodiscard]] bool IsEmpty() const {
    return total.blocks == 0 && before_freed.blocks == 0 && live.blocks == 0 && at_peak.blocks == 0;
  }
};

[[nodiscard]] inline bool IsEmpty(const RecordedCounts& counts) { return counts.IsEmpty(); }

inline RecordedCounts& operator+=(RecordedCounts& a, const RecordedCounts& b) {
  a.total += b.total;
  a.inside_freed += b.inside_freed;
  a.before_freed += b.before_freed;
  a.live += b.live;
  a.temporary += b.temporary;
  a.later += b.later;
  a.at_peak += b.at_peak;
  a.longest_ns = std::max(a.longest_ns, b.longest_ns);
  a.first_window = std::min(a.first_window, b.first_window);
  a.last_window = std::max(a.last_window, b.last_window);
  return a;
}

}  // namespace leakgate
