// Random events of a program of several threads, for tests, with what really happened to each
// block.
//
// Threads allocate, free what they or others have allocated, and reallocate in vain. An address is
// used again at once. Afterwards events of different threads that are close in time are told in
// another order, as a recording may have them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// An event, and the block that it is about: a number from 0. Frees of a realloc in vain, and their
// kRestore, have the block, too.
struct TrueEvent {
  RecordedEvent event;
  std::size_t block = 0;
};

struct RandomEventOptions {
  std::uint32_t seed = 1;
  std::size_t count = 2000;
  std::uint32_t threads = 4;
  std::uint32_t stacks = 12;
  bool is_reordered = true;
};

class RandomEvents {
 public:
  explicit RandomEvents(const RandomEventOptions& options)
      : options_(options), random_(options.seed) {
    while (events_.size() < options.count) Step();
    if (options.is_reordered) Reorder();
  }

  [[nodiscard]] const std::vector<TrueEvent>& events() const { return events_; }
  [[nodiscard]] std::vector<RecordedEvent> Recorded() const {
    std::vector<RecordedEvent> recorded;
    for (const TrueEvent& it : events_) recorded.push_back(it.event);
    return recorded;
  }

 private:
  struct Live {
    std::uint64_t address;
    std::uint64_t size_bytes;
    std::uint32_t stack;
    std::size_t block;
  };

  std::uint64_t Below(std::uint64_t end) { return random_() % end; }

  RecordedEvent NewEvent(RecordedKind kind) {
    RecordedEvent event;
    event.time_ns = time_ns_ += Below(600);
    event.thread = 1 + static_cast<std::uint32_t>(Below(options_.threads));
    event.window = window_;
    event.kind = kind;
    return event;
  }

  void Step() {
    const std::uint64_t choice = Below(100);
    if (choice < 2) {
      Window();
    } else if (choice < 4) {
      Mark();
    } else if (choice < 6 && !live_.empty()) {
      ReallocInVain();
    } else if (choice < 52 || live_.empty()) {
      Allocate();
    } else {
      Free();
    }
  }

  void Window() {
    RecordedEvent event =
        NewEvent(in_window_ ? RecordedKind::kWindowEnds : RecordedKind::kWindowBegins);
    if (!in_window_) window_ = ++windows_;
    event.window = window_;
    event.thread = 1;
    in_window_ = !in_window_;
    if (!in_window_) window_ = 1;
    events_.push_back({event});
  }

  void Mark() {
    RecordedEvent event = NewEvent(RecordedKind::kMark);
    event.mark = static_cast<std::uint32_t>(Below(3));
    events_.push_back({event});
  }

  void Allocate() {
    RecordedEvent event = NewEvent(RecordedKind::kAllocate);
    event.stack = 4 + static_cast<std::uint32_t>(Below(options_.stacks));
    event.size_bytes = Below(4) == 0 ? Below(100'000) : Below(100);
    event.allocation_kind = static_cast<AllocationKind>(1 + Below(6));
    event.address = NewAddress();
    live_.push_back({event.address, event.size_bytes, event.stack, blocks_});
    events_.push_back({event, blocks_++});
  }

  // Mostly the newest block, and mostly by the thread that has allocated it: the last event's.
  void Free() {
    const std::size_t which = Below(2) == 0 ? live_.size() - 1 : Below(live_.size());
    RecordedEvent event = NewEvent(RecordedKind::kFree);
    if (Below(2) == 0 && !events_.empty()) event.thread = events_.back().event.thread;
    event.stack = Below(2) == 0 ? 0 : 100 + static_cast<std::uint32_t>(Below(3));
    event.address = live_[which].address;
    free_.push_back(event.address);
    events_.push_back({event, live_[which].block});
    live_[which] = live_.back();
    live_.pop_back();
  }

  void ReallocInVain() {
    const Live& block = live_[Below(live_.size())];
    RecordedEvent event = NewEvent(RecordedKind::kFree);
    event.address = block.address;
    events_.push_back({event, block.block});
    event.kind = RecordedKind::kRestore;
    event.size_bytes = block.size_bytes;
    event.stack = block.stack;
    events_.push_back({event, block.block});
  }

  std::uint64_t NewAddress() {
    if (free_.empty() || Below(4) == 0) return next_address_ += 16 + 16 * Below(100);
    const std::uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }

  // Swaps neighbours of different threads that are less than a microsecond apart: not what is left
  // without a way to tell, which is two allocations at one address, or two frees.
  void Reorder() {
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i + 1 < events_.size(); ++i) {
        RecordedEvent& a = events_[i].event;
        RecordedEvent& b = events_[i + 1].event;
        const bool is_vain = IsVain(i) || IsVain(i + 1);
        const bool are_alike = a.address == b.address && a.kind == b.kind;
        if (a.thread == b.thread || is_vain || are_alike || b.time_ns - a.time_ns > 500 ||
            Below(2) == 0 || !CanMove(events_[i], events_[i + 1])) {
          continue;
        }
        std::swap(a.time_ns, b.time_ns);
        std::swap(events_[i], events_[i + 1]);
      }
    }
  }
  bool IsVain(std::size_t i) const {
    const bool is_begin =
        i + 1 < events_.size() && events_[i + 1].event.kind == RecordedKind::kRestore;
    return is_begin || events_[i].event.kind == RecordedKind::kRestore;
  }
  // Windows and marks stay where they are, so that the truth of intervals is plain.
  static bool CanMove(const TrueEvent& a, const TrueEvent& b) {
    const auto moves = [](const TrueEvent& it) {
      return it.event.kind == RecordedKind::kAllocate || it.event.kind == RecordedKind::kFree;
    };
    return moves(a) && moves(b);
  }

  RandomEventOptions options_;
  std::mt19937 random_;
  std::uint64_t time_ns_ = 1000;
  std::uint64_t next_address_ = 0x7000'0000'0000;
  std::uint32_t window_ = 1;
  std::uint32_t windows_ = 1;
  bool in_window_ = false;
  std::size_t blocks_ = 0;
  std::vector<Live> live_;
  std::vector<std::uint64_t> free_;
  std::vector<TrueEvent> events_;
};

}  // namespace leakgate
