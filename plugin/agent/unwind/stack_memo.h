// Stacks by proof, not by walk: for stacks that a thread has walked before, the
// words that the walk read. If the caller's pc, rsp (and rbp, where it matters)
// are the same and every word still holds, the walk would read the same again,
// so the stack is the same: one load and compare a frame, exact, without frame
// pointers.
//
// Sets of a few entries, by pc and rsp, newest first: one place in a loop may
// be reached through several callers. The words live in an arena; when it is
// full everything is forgotten, and the stacks still in use come back.
//
// Used by its own thread only.
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/stack_trail.h"
#include "plugin/agent/unwind/stack_walker.h"

namespace leakgate::agent {

class StackMemo {
 public:
  // The id of the stack at `caller`, or 0 if none is proved. `module_epoch`: pcs
  // mean what they meant when it was the same. Looks only where the set's stack
  // found last is.
  __attribute__((always_inline)) inline std::uint32_t FindAgain(const CallerFrame& caller,
                                                                std::uint32_t module_epoch) const {
    const Entry& entry = entries_[SetIndex(caller) * kWays];
    const bool is_proved = module_epoch == module_epoch_ && IsAt(entry, caller) && Holds(entry);
    return is_proved ? entry.stack : 0;
  }

  // The same anywhere in the set. What is found moves to where FindAgain looks.
  std::uint32_t Find(const CallerFrame& caller, std::uint32_t module_epoch);

  // Keeps the stack `id` at `caller`, which `trail` is. Does nothing if it
  // cannot be proved from the words alone.
  void Remember(const CallerFrame& caller, std::uint32_t module_epoch, const StackTrail& trail,
                std::uint32_t id);

  void Forget();

 private:
  // A word of the stack: rsp is the same, so its address is too.
  struct Word {
    std::uint64_t value;
    const volatile std::uint64_t* address;
  };

  struct Entry {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t fp;
    const Word* begin;  // in the arena; one stride at least
    const Word* end;
    std::uint32_t stack;
    bool depends_on_fp;
    std::uint64_t reserved[2];  // so that a set is reached by a shift
  };
  static_assert(sizeof(Entry) == 64);

  static constexpr std::uint32_t kSets = 512;
  static constexpr std::uint32_t kWays = 2;
  static constexpr std::uint32_t kStride = 4;  // words compared between two branches
  static constexpr std::uint32_t kArenaWords = 8192;

  // rsp is a multiple of 16 at a call, so its lowest bits say nothing.
  static std::uint64_t SetIndex(const CallerFrame& caller) {
    return (caller.pc ^ (caller.sp >> 4)) & (kSets - 1);
  }
  bool IsAt(const Entry& entry, const CallerFrame& caller) const {
    return entry.pc == caller.pc && entry.sp == caller.sp &&
           (!entry.depends_on_fp || entry.fp == caller.fp);
  }

  bool Holds(const Entry& entry) const {
    const auto difference = [](const Word& kept) { return *kept.address ^ kept.value; };
    const Word* word = entry.begin;
    do {
      const std::uint64_t differences =
          (difference(word[0]) | difference(word[1])) | (difference(word[2]) | difference(word[3]));
      if (differences != 0) return false;
      word += kStride;
    } while (word != entry.end);
    return true;
  }

  std::uint32_t module_epoch_ = 0;
  std::uint32_t arena_used_ = 0;
  Entry entries_[kSets * kWays];
  Word arena_[kArenaWords];
};

}  // namespace leakgate::agent
