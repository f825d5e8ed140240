#include "runner/etw/event_order.h"

#include <algorithm>

namespace leakgate {
namespace {

// At one time, stacks come after what they are of, and all else as it arrived.
bool IsBefore(const OrderedEvent& left, const OrderedEvent& right) {
  if (left.operation.time != right.operation.time) {
    return left.operation.time < right.operation.time;
  }
  return left.stack.has_value() < right.stack.has_value();
}

}  // namespace

std::optional<OrderedEvent> EventOrder::Push(const OrderedEvent& event) {
  if (newest_left_ && IsBefore(event, *newest_left_)) {
    ++late_events_;
    return event;
  }
  auto place = events_.end();
  const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(first_);
  if (place != begin && IsBefore(event, *(place - 1))) {
    place = std::upper_bound(begin, place, event, IsBefore);
  }
  events_.insert(place, event);
  if (events_.size() - first_ <= kHeldEvents) return std::nullopt;
  return Pop();
}

std::optional<OrderedEvent> EventOrder::Pop() {
  if (first_ == events_.size()) return std::nullopt;
  newest_left_ = events_[first_++];
  if (first_ >= kHeldEvents) {
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return newest_left_;
}

}  // namespace leakgate
