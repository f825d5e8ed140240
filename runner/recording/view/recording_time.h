// Moments of a recording as users write them, for --from, --to and --at:
//
//   2.5s  300ms  0.5     since the recording began; without a unit it is seconds
//   mark:loaded          where the program set this mark first; mark:loaded#3 the third time
//   test:Http.KeepAlive  where this test begins (--from) or ends (--to, --at); with #2 at the end
//                        its second iteration
//   suite:Http           likewise
//   begin, end           of the recording
//   peak                 where most was live (--at only)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/recording/view/interval.h"
#include "runner/snapshot/view/block_stream.h"

namespace leakgate {

struct RecordingTime {
  enum class Kind { kTime, kMark, kTest, kSuite, kEnd, kPeak };

  Kind kind = Kind::kTime;
  std::uint64_t time_ns = 0;  // of kTime
  std::string name{};         // of marks, tests and suites: everything after the colon
  std::string stem{};         // without "#3"
  std::uint64_t which = 0;    // 3; 0: not given
  std::string text{};         // as it was written
};

// Reads one. Usage errors name `option`.
[[nodiscard]] Expected<RecordingTime> ParseRecordingTime(const std::string& option,
                                                         const std::string& text);

// Which side of a test is meant.
enum class Side { kBegin, kEnd };

// Finds moments among events, by the names that the recording has defined so far.
class MomentFinder {
 public:
  // Both must outlive it.
  MomentFinder(const SnapshotContents& contents, const std::vector<std::string>& marks)
      : contents_(contents), marks_(marks) {}

  // REQUIRES: the kind is not kPeak.
  [[nodiscard]] IntervalBound BoundOf(const RecordingTime& time, Side side) const;

  // Returns a usage error which says why `time` was not found in a recording of `length_ns` that
  // has been read; no error if it was found.
  [[nodiscard]] Expected<void> Check(const std::string& option, const RecordingTime& time,
                                     std::uint64_t length_ns) const;

 private:
  [[nodiscard]] bool IsWindow(const RecordingTime& time, std::uint32_t window) const;
  [[nodiscard]] std::vector<std::string> NamesFor(RecordingTime::Kind kind) const;

  const SnapshotContents& contents_;
  const std::vector<std::string>& marks_;
};

}  // namespace leakgate
