// The call stacks that a page of a snapshot, or of a difference, holds.
//
// A page is to open at once, whatever the process has allocated. So it holds the largest stacks
// only, which its caller adds first, and says what it leaves out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

#include "runner/report/formats/page_tables.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/report/report_format.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

// The most that a page holds. A browser makes a tree of 60,000 nodes in a fifth of a second.
struct PageLimits {
  std::size_t stacks = 20'000;
  std::size_t nodes = 60'000;           // frames in the tree of stacks
  std::size_t table_bytes = 4'000'000;  // about, of names, frames and nodes
  std::size_t sites = 2'000;
  std::size_t rows = 100;  // of each other table
};

// What of a frame tells it from another. Addresses mean nothing between two processes, and lines
// nothing between two builds.
enum class FrameIdentity { kAddress, kLine, kFunction };

class PageStacks {
 public:
  PageStacks(const PageLimits& limits, FrameIdentity identity)
      : limits_(limits), identity_(identity) {}

  // Tells that no further stack is to be added.
  [[nodiscard]] bool IsFull() const {
    return count_ >= limits_.stacks || tables_.node_count() >= limits_.nodes ||
           tables_.bytes() >= limits_.table_bytes;
  }

  // Returns about how many bytes of JSON its tables have so far.
  [[nodiscard]] std::size_t bytes() const { return tables_.bytes(); }

  // What the page needs to know of a stack: its node; its call site's frame, counted from 1 (0:
  // none); how it ends, as a string's index (0: it is complete).
  using Numbers = std::array<int, 3>;

  // Adds a stack. Stacks that look the same get the same numbers.
  Numbers Add(StackFrames& frames, std::uint32_t stack);

  // Returns the index of `text` among the page's strings.
  int String(std::string_view text) { return tables_.String(text); }

  // Writes the members that the stacks share: strings, frames, ..., and the source lines around
  // call sites, if there is a way to read them.
  void WriteMembers(std::ostream& out, const ReadSource& read_source) const;

 private:
  Frame AsKnown(Frame frame) const;

  const PageLimits limits_;
  const FrameIdentity identity_;
  std::size_t count_ = 0;
  PageTables tables_;
  SourceExcerpts sources_;
};

// Writes why modules have no symbols. That is known once all frames have been asked for.
void WriteProblems(std::ostream& out, const StackLookup& stacks);

}  // namespace leakgate
