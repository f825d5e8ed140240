// The live blocks of a process that Windows' heap tracing tells of: events in, blocks with their
// stacks out. Whatever lacks is counted (trace_losses.h); then the blocks prove nothing.
//
//   alloc A 64 bytes, its stack, free A, alloc B 10 bytes, its stack   -> B, 10 bytes, with its
//   stack
//
// A stack belongs to the allocation or reallocation of its thread at its time. A reallocation that
// moves a block is told as an allocation and a free, too; so it changes a block only in place.
//
// One thread: the consumer's, and after its end any other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/etw/event_order.h"
#include "runner/etw/trace_event.h"
#include "runner/etw/trace_losses.h"
#include "runner/etw/trace_stacks.h"
#include "runner/region/amount.h"

namespace leakgate {

struct TracedBlock {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t heap = 0;
  std::uint64_t time = 0;  // of its allocation
  std::uint32_t thread = 0;
  std::optional<std::uint32_t> stack = {};  // for Frames

  bool operator==(const TracedBlock&) const = default;
};

class HeapTrace {
 public:
  explicit HeapTrace(std::uint32_t process) : process_(process) {}

  std::uint32_t process() const { return process_; }

  void Add(const TraceEvent& event);

  // Adds what the session itself counted as lost.
  void AddLost(std::uint64_t events, std::uint64_t buffers) {
    losses_.lost_events += events;
    losses_.lost_buffers += buffers;
  }

  // Takes in what was held back for its order. Call it when the session has stopped. Events of a
  // later session of the same process may be added afterwards; then call it again.
  void Finish();

  // All below are REQUIRES: Finish was called.

  [[nodiscard]] std::vector<TracedBlock> LiveBlocks() const;  // by address

  // Of a block's stack; innermost first.
  [[nodiscard]] std::span<const std::uint64_t> Frames(std::uint32_t stack) const {
    return stacks_.Frames(stack);
  }
  [[nodiscard]] const TraceLosses& losses() const { return losses_; }

  // All that was allocated, reallocated blocks anew; and the most bytes that were live at a time.
  [[nodiscard]] const Amount& allocated() const { return allocated_; }
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

  // How many events of the process' heaps were read. If none, then the session told nothing.
  [[nodiscard]] std::uint64_t heap_events() const { return heap_events_; }

 private:
  // The blocks of one thread that wait for the stacks of one time, in order.
  struct Waiting {
    std::uint64_t time = 0;
    std::size_t next = 0;
    std::vector<std::uint64_t> addresses;
  };
  struct Kept {
    TracedBlock block;
    std::uint64_t number = 0;  // of the event that made it
  };

  void AddStack(const EventStack& stack);
  void Apply(const OrderedEvent& event);
  void Allocate(const HeapOperation& operation);
  void Reallocate(const HeapOperation& operation);
  void Free(const HeapOperation& operation);
  void DestroyHeap(std::uint64_t heap);
  void WaitForStack(const HeapOperation& operation);
  void JoinStack(const HeapOperation& of, std::uint32_t stack);
  bool IsLive(const Kept& kept) const;
  TracedBlock* FindLive(std::uint64_t address);
  void CountAllocated(std::uint64_t heap, std::uint64_t bytes);
  void CountFreed(std::uint64_t heap, std::uint64_t bytes);

  std::uint32_t process_;
  EventOrder order_;
  TraceStacks stacks_;
  std::unordered_map<std::uint64_t, Kept> blocks_;  // by address; some of destroyed heaps
  struct Heap {
    std::uint64_t destroyed = 0;  // the number of that event
    std::uint64_t live_bytes = 0;
  };
  std::unordered_map<std::uint64_t, Heap> heaps_;
  std::unordered_map<std::uint32_t, Waiting> waiting_;  // by thread
  std::vector<std::uint64_t> frames_;                   // of one stack
  TraceLosses losses_;
  Amount allocated_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t heap_events_ = 0;
  std::uint64_t applied_ = 0;  // events, by which they are numbered
};

}  // namespace leakgate
