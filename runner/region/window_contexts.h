// Remembers in which contexts (common/region_layout.h) the blocks of each window are, so that a
// search for a window's blocks passes over pages of the live map that have none:
//
//   context    1        2       3       4
//   window     program  Test.A  Test.B  Test.B      Test.B's blocks are in the contexts 3 to 4
//
// Contexts are appended, so each is read once. Any thread may use it.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/region_layout.h"

namespace leakgate {

// From the first to the last one; empty by default.
struct ContextRange {
  std::uint32_t first = 1;
  std::uint32_t last = 0;

  [[nodiscard]] bool IsEmpty() const { return first > last; }
  [[nodiscard]] bool Has(std::uint32_t context) const {
    return first <= context && context <= last;
  }
};

class WindowContexts {
 public:
  // Returns a range that has all contexts of `window`, and perhaps others. `table` is as the
  // region has it now, the first `count` of which were ever asked for.
  [[nodiscard]] ContextRange Of(std::uint32_t window, const ContextRecord* table,
                                std::uint32_t count);

 private:
  // Returns false if the context has no window yet: its thread is about to write it.
  bool Note(std::uint32_t context, const ContextRecord* table);

  std::mutex mutex_;
  std::uint32_t read_ = 0;  // contexts below this are noted, or in without_window_
  std::vector<std::uint32_t> without_window_;
  std::vector<ContextRange> ranges_;  // by window
};

}  // namespace leakgate
