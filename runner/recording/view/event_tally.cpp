#include "runner/recording/view/event_tally.h"

#include <algorithm>

#include "runner/snapshot/view/counts_by_number.h"

namespace leakgate {
namespace {

// Tests lie in suites, and suites in the program. More windows are open only if a process forges
// its events.
constexpr std::size_t kMostOpenWindows = 64;

std::uint64_t LifetimeUntil(const RecordedBlock& block, std::uint64_t end_ns) {
  return end_ns > block.allocated_ns ? end_ns - block.allocated_ns : 0;
}

}  // namespace

EventTally::EventTally(Interval interval, RecordedBlockFilter filter)
    : filter_(std::move(filter)),
      is_by_lifetime_(!filter_.lifetime_ns.HasAll()),
      player_(std::move(interval), *this),
      phase_(player_.watch().phase()),
      commits_([this](std::uint32_t stack) { return HasStack(stack); }) {}

void EventTally::Lost(const RecordedEvent& event) {
  ++events_;
  losses_.Add(event);
}

void EventTally::Comes(const RecordedEvent& event) {
  ++events_;
  events_inside_ += phase_ == Phase::kInside ? 1 : 0;
  now_ns_ = event.time_ns;
}

void EventTally::Before(const RecordedEvent& event) {
  if (event.kind == RecordedKind::kWindowBegins) {
    EndSegment();
    if (open_windows_.size() < kMostOpenWindows) open_windows_.push_back(event.window);
  } else if (event.kind == RecordedKind::kWindowEnds) {
    EndSegment();
    std::erase(open_windows_, event.window);
  }
}

void EventTally::After(const RecordedEvent& event) {
  switch (event.kind) {
    case RecordedKind::kPause:
    case RecordedKind::kContinue:
      losses_.Add(event);
      break;
    case RecordedKind::kMap:
    case RecordedKind::kUnmap:
    case RecordedKind::kCommit:
    case RecordedKind::kDecommit:
      commits_.Add(event, phase_);
      break;
    default:
      break;
  }
}

void EventTally::Finish(std::uint64_t end_ns) {
  end_ns = std::max(end_ns, now_ns_);
  player_.PassTime(end_ns);
  losses_.Finish(end_ns);
  if (phase_ == Phase::kInside) EndInterval(end_ns);
  for (std::vector<RecordedCounts>* const counts : {&by_stack_, &by_thread_, &by_window_}) {
    for (RecordedCounts& it : *counts) KeepPeak(it);
  }
  for (RecordedCounts& it : by_kind_) KeepPeak(it);
  for (RecordedCounts& it : by_size_) KeepPeak(it);
  all_.at_peak = peak_.live;
  commits_.Finish();
}

void EventTally::FollowPhase() {
  const Phase before = phase_;
  if (before == Phase::kBefore) BeginInterval(player_.watch().begin_ns());
  phase_ = player_.watch().phase();
  if (phase_ == Phase::kAfter) EndInterval(player_.watch().end_ns());
}

void EventTally::BeginInterval(std::uint64_t time_ns) {
  peak_ = {.live = all_.live, .time_ns = time_ns};
  segment_ = {.bytes = all_.live.bytes, .time_ns = time_ns};
  ++peak_version_;
  commits_.BeginInterval(time_ns);
}

// Blocks that are chosen by their lifetime are counted only now, since it was not known before.
void EventTally::EndInterval(std::uint64_t time_ns) {
  EndSegment();
  commits_.EndInterval();
  if (!is_by_lifetime_) return;
  player_.lives().live().ForEach([&](RecordedBlock& block) {
    if (block.is_counted == 0) return;
    block.is_counted = HasLifetime(block, time_ns) ? 1 : 0;
    if (block.is_counted != 0) CountAllocated(block);
  });
}

template <typename Use>
void EventTally::ForEachCounts(const RecordedBlock& block, const Use& use) {
  use(by_stack_[block.stack]);
  use(At(by_thread_, block.thread));
  use(At(by_window_, block.window));
  use(by_kind_[block.allocation_kind]);
  use(by_size_[SizeClassOf(block.size_bytes)]);
}

void EventTally::WasLive(RecordedBlock& block) {
  Choose(block);
  if (block.is_counted == 0 || is_by_lifetime_) return;
  CountAllocated(block);
  if (phase_ == Phase::kInside) RaisePeak(0);
}

void EventTally::Allocated(RecordedBlock& block) {
  Choose(block);
  block.is_inside = phase_ == Phase::kInside ? 1 : 0;
  if (block.is_counted != 0 && !is_by_lifetime_) CountAllocated(block);
}

void EventTally::IsLive(const RecordedBlock& block) {
  if (phase_ != Phase::kInside || is_by_lifetime_ || all_.live.bytes <= segment_.bytes) return;
  RaisePeak(static_cast<std::uint32_t>(block.window));
}

void EventTally::Freed(RecordedBlock& block, const BlockEnd& end) {
  block.freed_in = static_cast<std::uint64_t>(phase_) & 3;
  if (phase_ == Phase::kInside && end.stack != 0) CountFreedBy(end.stack, block.size_bytes);
  if (block.is_counted == 0) return;
  if (phase_ == Phase::kAfter) {
    if (block.is_inside == 0) return;
    all_.later.Add(block.size_bytes);
    ForEachCounts(block, [&](RecordedCounts& counts) { counts.later.Add(block.size_bytes); });
    return;
  }
  if (is_by_lifetime_) {
    if (phase_ == Phase::kBefore || !HasLifetime(block, end.time_ns)) return;
    CountAllocated(block);
  }
  CountFreed(block, end);
}

// Handles the free of a block after which another one was allocated at its address.
void EventTally::FreedEarlier(const RecordedBlock& block, const BlockEnd& end) {
  if (phase_ != Phase::kInside) return;
  if (end.stack != 0) CountFreedBy(end.stack, block.size_bytes);
  if (!end.was_temporary || block.is_counted == 0 || block.is_inside == 0) return;
  if (is_by_lifetime_ && !HasLifetime(block, end.time_ns)) return;
  all_.temporary.Add(block.size_bytes);
  ForEachCounts(block, [&](RecordedCounts& counts) { counts.temporary.Add(block.size_bytes); });
}

// Undoes what Freed has counted. The longest lifetime may stay too long. That hardly happens: a
// program would have to realloc its longest-living block, fail, and free it later.
void EventTally::Restored(RecordedBlock& block, const BlockEnd& end) {
  const auto freed_in = static_cast<Phase>(block.freed_in);
  if (block.is_counted == 0 || (is_by_lifetime_ && !HasLifetime(block, end.time_ns))) return;
  if (is_by_lifetime_ && freed_in == Phase::kBefore) return;
  const std::uint64_t bytes = block.size_bytes;
  const bool is_inside = block.is_inside != 0;
  const auto undo = [&](RecordedCounts& counts) {
    if (freed_in == Phase::kAfter) {
      if (is_inside) counts.later.Remove(bytes);
      return;
    }
    // Otherwise it is counted when it is really freed.
    if (!is_by_lifetime_) counts.live.Add(bytes);
    if (freed_in == Phase::kBefore) return;
    (is_inside ? counts.inside_freed : counts.before_freed).Remove(bytes);
    if (is_inside && end.was_temporary) counts.temporary.Remove(bytes);
    if (is_inside && is_by_lifetime_) counts.total.Remove(bytes);
  };
  undo(all_);
  ForEachCounts(block, [&](RecordedCounts& counts) {
    KeepPeak(counts);
    undo(counts);
  });
  if (freed_in == Phase::kInside && is_inside) {
    const std::uint64_t lifetime = LifetimeUntil(block, end.time_ns);
    lifetimes_.Remove(static_cast<std::uint32_t>(block.stack), lifetime);
    decades_.Remove(lifetime, bytes);
  }
  IsLive(block);
}

void EventTally::CountAllocated(const RecordedBlock& block) {
  const std::uint64_t bytes = block.size_bytes;
  const auto window = static_cast<std::uint32_t>(block.window);
  const bool is_inside = block.is_inside != 0;
  all_.live.Add(bytes);
  if (is_inside) all_.total.Add(bytes);
  ForEachCounts(block, [&](RecordedCounts& counts) {
    KeepPeak(counts);
    counts.live.Add(bytes);
    if (!is_inside) return;
    counts.total.Add(bytes);
    counts.first_window = std::min(counts.first_window, window);
    counts.last_window = std::max(counts.last_window, window);
  });
}

void EventTally::CountFreed(const RecordedBlock& block, const BlockEnd& end) {
  const std::uint64_t bytes = block.size_bytes;
  const bool is_in_interval = phase_ == Phase::kInside;
  const bool is_inside = is_in_interval && block.is_inside != 0;
  const std::uint64_t lifetime = LifetimeUntil(block, end.time_ns);
  const auto count = [&](RecordedCounts& counts) {
    counts.live.Remove(bytes);
    if (!is_in_interval) return;
    if (!is_inside) {
      counts.before_freed.Add(bytes);
      return;
    }
    counts.inside_freed.Add(bytes);
    if (end.was_temporary) counts.temporary.Add(bytes);
    counts.longest_ns = std::max(counts.longest_ns, lifetime);
  };
  count(all_);
  ForEachCounts(block, [&](RecordedCounts& counts) {
    KeepPeak(counts);
    count(counts);
  });
  if (!is_inside) return;
  lifetimes_.Add(static_cast<std::uint32_t>(block.stack), lifetime);
  decades_.Add(lifetime, bytes);
}

void EventTally::CountFreedBy(std::uint32_t stack, std::uint64_t bytes) {
  if (!HasStack(stack)) return;
  std::uint32_t& index = At(index_of_freeing_, stack);
  if (index == 0) {
    freed_by_.emplace_back(stack, RecordedSum());
    index = static_cast<std::uint32_t>(freed_by_.size());
  }
  freed_by_[index - 1].second.Add(bytes);
}

// REQUIRES: more is live than at any moment since a window last began or ended.
void EventTally::RaisePeak(std::uint32_t window) {
  segment_ = {.bytes = all_.live.bytes, .time_ns = now_ns_};
  if (all_.live.bytes <= peak_.live.bytes) return;
  peak_ = {.live = all_.live, .time_ns = now_ns_, .event = events_, .window = window};
  ++peak_version_;
}

void EventTally::EndSegment() {
  if (phase_ == Phase::kInside && !is_by_lifetime_) {
    for (const std::uint32_t window : open_windows_) {
      Highest& highest = At(highest_, window);
      if (segment_.bytes > highest.bytes) highest = segment_;
    }
  }
  segment_ = {.bytes = all_.live.bytes, .time_ns = now_ns_};
}

std::uint32_t EventTally::IndexOf(std::uint32_t stack) {
  std::uint32_t& index = At(index_of_stack_, stack);
  if (index == 0) {
    stacks_.push_back(stack);
    by_stack_.emplace_back();
    index = static_cast<std::uint32_t>(stacks_.size());
  }
  return index - 1;
}

bool EventTally::HasStack(std::uint32_t stack) {
  if (!filter_.has_stack) return true;
  std::uint8_t& known = At(has_stack_, stack);
  if (known == 0) known = filter_.has_stack(stack) ? 2 : 1;
  return known == 2;
}

// From now on, counted blocks have the index of their stack instead of its id.
void EventTally::Choose(RecordedBlock& block) {
  const auto stack = static_cast<std::uint32_t>(block.stack);
  if (!filter_.size_bytes.Has(block.size_bytes) || !HasStack(stack)) return;
  block.is_counted = 1;
  block.stack = IndexOf(stack);
}

bool EventTally::HasLifetime(const RecordedBlock& block, std::uint64_t end_ns) const {
  return filter_.lifetime_ns.Has(LifetimeUntil(block, end_ns));
}

// Placed after the functions that it calls for each event, so that they are inlined.
void EventTally::Add(std::span<const RecordedEvent> events) { player_.Add(events); }

}  // namespace leakgate
