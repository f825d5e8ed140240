// The encoding of one thread's events in a recording: in columns, each number as near to 0 as a
// guess can make it, so that they compress well. Internal to this folder.
//
//   ops        a byte for each event: EventOp, or AllocationKind of an allocation
//   times      units since the event before
//   addresses  2 * d: that of the event d before, at most kRecentEvents; else 2 * z + 1: z is the
//              zigzag of its distance from the address before, in granules of 16 bytes
//   stacks     0: the one that followed the same stack last time; else the id plus 1
//   sizes      0: as large as the last block of that stack; else the size plus 1
//   others     the content of other events, as plain numbers
//
// All guesses start again in each segment, so that each can be read without the others.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runner/recording/file/recorded_event.h"
#include "runner/snapshot/file/coding.h"

namespace leakgate::recording_format {

// Values below are AllocationKinds: an allocation of that kind.
enum class EventOp : std::uint8_t {
  kFree = 16,
  kFreeByStack = 17,
  kWindow = 18,  // from now on, allocations belong to another window
  kOther = 32,   // and more: RecordedKind
};

inline constexpr std::uint32_t kRecentEvents = 63;

// What the writer and the reader both remember of a segment's previous events, to make the same
// guesses.
class EventGuesses {
 public:
  // Returns how many events ago `granule` was used, or 0 if that is not known. Remembers it then.
  std::uint32_t TakeDistance(std::uint64_t granule) {
    Slot& slot = slots_[Mix(granule) % kSlots];
    const std::uint32_t ago = now_ + 1 - slot.event;
    const bool is_known = slot.granule == granule && slot.event != 0 && ago <= kRecentEvents;
    Remember(slot, granule);
    return is_known ? ago : 0;
  }
  // For the reader, which gets the distance or the granule.
  std::uint64_t GranuleBefore(std::uint32_t distance) const {
    return recent_[(now_ + 1 - distance) % kRing];
  }
  void Remember(std::uint64_t granule) { Remember(slots_[Mix(granule) % kSlots], granule); }
  std::uint64_t last_granule() const { return last_granule_; }

  // The stack that is likely to follow, and the one that really follows.
  std::uint32_t LikelyStack() const { return next_[last_stack_ % kStacks]; }
  void FollowWith(std::uint32_t stack) {
    next_[last_stack_ % kStacks] = stack;
    last_stack_ = stack;
  }
  std::uint64_t& SizeOf(std::uint32_t stack) { return sizes_[stack % kStacks]; }

 private:
  static constexpr std::size_t kSlots = 128;
  static constexpr std::size_t kRing = kRecentEvents + 1;
  static constexpr std::size_t kStacks = 256;
  struct Slot {
    std::uint64_t granule = 0;
    std::uint32_t event = 0;  // its number in the segment, from 1
  };

  static std::uint64_t Mix(std::uint64_t granule) { return granule ^ (granule >> 7); }
  void Remember(Slot& slot, std::uint64_t granule) {
    ++now_;
    slot = {granule, now_};
    recent_[now_ % kRing] = granule;
    last_granule_ = granule;
  }

  std::array<Slot, kSlots> slots_{};
  std::array<std::uint64_t, kRing> recent_{};
  std::array<std::uint32_t, kStacks> next_{};
  std::array<std::uint64_t, kStacks> sizes_{};
  std::uint64_t last_granule_ = 0;
  std::uint32_t last_stack_ = 0;
  std::uint32_t now_ = 0;
};

// Writes the events of one segment.
class SegmentWriter {
 public:
  void Allocate(std::uint64_t delta, std::uint64_t address, std::uint64_t bytes,
                std::uint32_t stack, AllocationKind kind);
  void Free(std::uint64_t delta, std::uint64_t address);
  void FreeByStack(std::uint64_t delta, std::uint64_t address, std::uint32_t stack);
  void Window(std::uint64_t delta, std::uint32_t window);
  // An event of any other kind, with its address, size, stack, window, mark and allocation kind.
  void Other(std::uint64_t delta, const RecordedEvent& event);

  std::uint32_t count() const { return count_; }
  // Appends the columns to `out`, and starts again.
  void Take(snapshot_format::ByteWriter& out);

 private:
  void Begin(std::uint64_t delta, std::uint8_t op) {
    ++count_;
    const char byte = static_cast<char>(op);
    ops_.Raw({&byte, 1});
    times_.Number(delta);
  }
  void Address(std::uint64_t address);
  void Stack(std::uint32_t stack);

  EventGuesses guesses_;
  std::uint32_t count_ = 0;
  snapshot_format::ByteWriter ops_;
  snapshot_format::ByteWriter times_;
  snapshot_format::ByteWriter addresses_;
  snapshot_format::ByteWriter stacks_;
  snapshot_format::ByteWriter sizes_;
  snapshot_format::ByteWriter others_;
};

// Reads the events of one segment, one after the other. Times are in units.
class SegmentReader {
 public:
  // `in` stands after the segment's header. Moves it to the end of the segment. `thread` and
  // `window` are those of the header.
  SegmentReader(snapshot_format::ByteReader& in, std::uint32_t count, std::uint64_t begin_time,
                std::uint32_t thread, std::uint32_t window);

  // The time of the event that Next returns, in units. REQUIRES: !is_at_end().
  std::uint64_t time() const { return time_; }
  bool is_at_end() const { return left_ == 0; }
  // Returns the next event without its time_ns, and moves on.
  void Next(RecordedEvent& event);

  // Returns whether everything was as a writer writes it.
  bool is_good() const {
    return is_good_ && times_.is_good() && addresses_.is_good() && stacks_.is_good() &&
           sizes_.is_good() && others_.is_good();
  }

 private:
  void ReadTime() {
    if (left_ != 0) time_ += times_.Number();
  }
  std::uint64_t Address();
  std::uint32_t Stack();

  EventGuesses guesses_;
  std::string_view ops_;
  std::size_t at_ = 0;
  snapshot_format::ByteReader times_;
  snapshot_format::ByteReader addresses_;
  snapshot_format::ByteReader stacks_;
  snapshot_format::ByteReader sizes_;
  snapshot_format::ByteReader others_;
  std::uint32_t left_;
  std::uint64_t time_;
  std::uint32_t thread_;
  std::uint32_t window_;
  bool is_good_ = true;
};

}  // namespace leakgate::recording_format
