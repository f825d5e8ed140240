// Writes recordings in heaptrack's file format 3, for heaptrack_print and heaptrack_gui.
//
//   s LENGTH TEXT                        a string; numbers are hexadecimal, ids from 1
//   i ADDRESS MODULE [FUNCTION FILE LINE]...   an address; inlined functions inner first
//   t ADDRESS CALLER                     a frame of the tree of stacks
//   a BYTES STACK                        a size at a stack; these ids are from 0
//   + SIZE-AT-STACK                      a block is allocated
//   - SIZE-AT-STACK                      and freed
//   c MILLISECONDS                       since the program began
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>

#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

class HeaptrackWriter {
 public:
  // All of them must outlive the writer. `contents` may grow meanwhile.
  HeaptrackWriter(const SnapshotContents& contents, StackFrames& frames, std::ostream& out)
      : contents_(contents), frames_(frames), out_(out) {}

  // Writes the begin of the file. REQUIRES: the facts are in `contents`.
  void Begin();
  void Allocate(std::uint64_t size_bytes, std::uint32_t stack);
  // REQUIRES: a block of that size was allocated by that stack.
  void Free(std::uint64_t size_bytes, std::uint32_t stack);
  void Time(std::uint64_t ms);

 private:
  std::uint64_t SizeAtStack(std::uint64_t size_bytes, std::uint32_t stack);
  std::uint32_t TraceOf(std::uint32_t node);
  std::uint32_t TraceOfNoStack();
  std::uint32_t AddressOf(std::uint32_t node);
  std::uint32_t TextOf(const std::string& text);

  const SnapshotContents& contents_;
  StackFrames& frames_;
  std::ostream& out_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> addresses_;
  std::uint32_t address_count_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> traces_;  // by node
  std::uint32_t trace_count_ = 0;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> sizes_;
};

}  // namespace leakgate
