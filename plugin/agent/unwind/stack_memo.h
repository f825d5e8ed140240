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
  // mean what they meant when it was the same.
  std::uint32_t Find(const CallerFrame& caller, std::uint32_t module_epoch) const {
    if (module_epoch != module_epoch_) return 0;
    const Entry* const set = Set(caller);
    for (std::uint32_t way = 0; way < kWays; ++way) {
      const Entry& entry = set[way];
      if (entry.pc != caller.pc || entry.sp != caller.sp) continue;
      if (entry.depends_on_fp && entry.fp != caller.fp) continue;
      if (Holds(entry)) return entry.stack;
    }
    return 0;
  }

  // Keeps the stack `id` at `caller`, which `trail` is. Does nothing if it
  // cannot be proved from the words alone.
  void Remember(const CallerFrame& caller, std::uint32_t module_epoch, const StackTrail& trail,
                std::uint32_t id);

  void Forget();

 private:
  struct Entry {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t fp;
    std::uint32_t stack;
    std::uint32_t first_word;  // in the arena
    std::uint32_t word_count;  // a multiple of kStride
    bool depends_on_fp;
  };
  static_assert(sizeof(Entry) == 40);

  // A word at `sp + offset`.
  struct Word {
    std::uint64_t value;
    std::uint64_t offset;
  };

  static constexpr std::uint32_t kSets = 256;
  static constexpr std::uint32_t kWays = 4;
  static constexpr std::uint32_t kStride = 4;  // words compared between two branches
  static constexpr std::uint32_t kArenaWords = 8192;

  static std::uint32_t SetIndex(const CallerFrame& caller) {
    const std::uint64_t key = caller.pc ^ (caller.sp >> 3);
    return static_cast<std::uint32_t>((key ^ (key >> 9)) & (kSets - 1));
  }
  const Entry* Set(const CallerFrame& caller) const { return &entries_[SetIndex(caller) * kWays]; }

  bool Holds(const Entry& entry) const {
    const Word* word = &arena_[entry.first_word];
    const Word* const end = word + entry.word_count;
    const char* const sp = reinterpret_cast<const char*>(entry.sp);
    const auto difference = [sp](const Word& kept) {
      return *reinterpret_cast<const volatile std::uint64_t*>(sp + kept.offset) ^ kept.value;
    };
    for (; word != end; word += kStride) {
      const std::uint64_t differences =
          (difference(word[0]) | difference(word[1])) | (difference(word[2]) | difference(word[3]));
      if (differences != 0) return false;
    }
    return true;
  }

  std::uint32_t module_epoch_ = 0;
  std::uint32_t arena_used_ = 0;
  Entry entries_[kSets * kWays];
  Word arena_[kArenaWords];
};

}  // namespace leakgate::agent
