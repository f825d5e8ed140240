// What is live at the end of each repetition of a process, by the call stack and by the test that
// made it. Pure.
//
// The first looks are at the end of each repetition. Once there are 128, each two become one, and
// from then on every second repetition is looked at, and so on: so thousands of repetitions take no
// more memory than 128, and not much more time.
//
//   look         0    1    2  ..  128        130    132  ..  256        260
//   repetition   1    2    3  ..  129        131    133  ..  257        261
//   stride       1                 2                          4
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runner/judge/repetition_series.h"

namespace leakgate {

// Who made a block: the number of a test, or one of these.
inline constexpr std::uint32_t kOfNobody = 0;  // no test's, or allowed: it counts in no sum
inline constexpr std::uint32_t kOfBegin = 1;   // a suite's, in the first repetition
inline constexpr std::uint32_t kFirstTest = 2;

// Replaces each two looks of `net` by one. REQUIRES: they are an even number.
void HalveLooks(std::vector<std::int64_t>& net);

inline constexpr std::size_t kMostLooks = 128;

class CountsByStack {
 public:
  struct Live {
    std::uint32_t stack = 0;
    std::uint32_t test = kOfNobody;
    Amount amount;
    bool is_of_tests = false;  // a test's window or a suite's has it
    bool is_later = false;     // a later repetition than the first has made it
  };
  using BySource = std::function<bool(std::uint32_t test)>;

  // Notes all that is live at a look.
  void Note(const std::vector<Live>& live);

  // The repetitions from one look to the next.
  [[nodiscard]] std::size_t stride() const { return stride_; }

  // Returns the series of each stack that a test or suite has, or whose count changed: the program
  // may have built a lot before its first test, which is the same in all repetitions. If `counts`
  // is set, they are of what those made of whom it is true.
  [[nodiscard]] std::map<std::uint32_t, RepetitionSeries> AllSeries(
      const BySource& counts = nullptr) const;

  // Returns the same of what each test made, by its number.
  [[nodiscard]] std::map<std::uint32_t, std::map<std::uint32_t, RepetitionSeries>> SeriesByTest()
      const;

  // Returns the tests of which a look found more or less than the one before, with the stacks.
  [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint32_t>> FindChanged() const;

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // test and stack
  using ByKey = std::map<Key, Amount>;
  // Nothing: the key does not count.
  using Place = std::function<std::optional<Key>(const Key& key)>;

  void Halve();
  // Adds the series of all keys up at their places.
  [[nodiscard]] std::map<Key, RepetitionSeries> Collect(const Place& place_of) const;

  bool has_begun_ = false;
  std::size_t stride_ = 1;
  ByKey first_;                          // what was live at the first look
  ByKey last_;                           // and at the last one
  std::vector<ByKey> nets_;              // what each look but the first found changed
  std::vector<ByKey> told_;              // the first of them, once they have been halved
  std::set<std::uint32_t> built_later_;  // stacks of which a live one is of a later repetition
  std::set<std::uint32_t> of_tests_;     // stacks of what a test or suite has
};

}  // namespace leakgate
