// Puts events into the order of their times. Events of several processors arrive nearly so, and a
// stack some events after what it is of:
//
//   arrive    alloc 10, free 30, alloc 20, stack of 10, stack of 20
//   leave     alloc 10, stack of 10, alloc 20, stack of 20, free 30
//
// One thread. Holds kHeldEvents at most: what is later than that leaves at once, and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runner/etw/trace_event.h"

namespace leakgate {

// Of a stack, the operation has the time and the thread alone.
struct OrderedEvent {
  HeapOperation operation;
  std::optional<std::uint32_t> stack = {};  // its number, if the event is a stack
};

class EventOrder {
 public:
  static constexpr std::size_t kHeldEvents = 4096;

  // Takes an event, and returns the one that leaves, if it is time for one.
  std::optional<OrderedEvent> Push(const OrderedEvent& event);

  // Returns the oldest that is held: call it until nothing is.
  std::optional<OrderedEvent> Pop();

  std::uint64_t late_events() const { return late_events_; }

 private:
  std::vector<OrderedEvent> events_;  // in order; those in front of first_ have left
  std::size_t first_ = 0;
  std::optional<OrderedEvent> newest_left_;
  std::uint64_t late_events_ = 0;
};

}  // namespace leakgate
