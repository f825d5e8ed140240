// Proves a stack without walking it. For stacks that a thread has walked before, the memo keeps the
// words that the walk read. If the caller's pc and sp (and fp, where it matters) are the same and
// every word has its old value, a walk would read the same again, so the stack is the same. That
// costs a load and a compare for each frame, and is exact without frame pointers.
//
// Entries are in sets of a few, by pc and sp, the newest first. One place in a loop may be reached
// through several callers. Where all of a program's allocations are calls of the C runtime's,
// nearly all callers are alike (kCallersAreAlike). So there, if a second stack of the same pc and
// sp comes, their entry becomes a fork. It has the address of a word that differs between the two,
// and by what is there, the stacks are in other sets:
//
//   set of (pc, sp)                   fork at sp + 0x68
//   set of (pc, sp, Parse() + 0x2f)   stack 17
//   set of (pc, sp, Print() + 0x11)   stack 23
//
// The words are in an arena. When it is full, everything is forgotten, and the stacks that are
// still in use come back.
//
// The frames outward of the thread's first frame are not proved again and again. The first frame is
// the one that calls main, or the thread's own function:
//
//   malloc < Work < Run < main < MainAndItsEnd < __libc_start_call_main < __libc_start_main <
//   _start
//                              first frame     |  left out: these three return addresses
//
// It is entered once in the life of its thread. So wherever a walk reaches it, which the words
// further in and the return address into it prove, it is the same call of the same function, whose
// callers wait for it and have not moved. That is not true for any other frame: a function that may
// be called twice may be called from two places, and the agent may see nothing of what happens in
// between. (It is not even true for the callers of a test: if a stack is copied back, as with some
// coroutines, it has all of a test's frames below other callers.) Once the first frame has been
// left, in whatever way, nothing leads to it, so the compared words differ.
//
// Only its own thread uses it.
#pragma once

#include <cstdint>
#include <optional>

#include "common/system.h"
#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/arch/stack_words.h"
#include "plugin/agent/unwind/stack_trail.h"

#include LEAKGATE_AGENT(recorded_callers)

namespace leakgate::agent {

// A frame that is entered once in its thread's life: `pc` and `sp` are those with which it
// continues when the call for which it waits returns. In an unknown one, pc is 0, which no frame's
// is.
struct FirstFrame {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint32_t most_outward = 0;  // with more frames outward, it is not the intended one

  friend bool operator==(const FirstFrame&, const FirstFrame&) = default;
};

class StackMemo {
 public:
  // Returns where the id of the stack at `caller` is kept, or nullptr if none is proved. Checks
  // only the stack of the set that was found last.
  __attribute__((always_inline)) inline const std::uint32_t* FindAgain(
      const CallerFrame& caller) const {
    const Entry* entry = &SetAt(PlaceOf(caller)).ways[0];
    if constexpr (kCallersAreAlike) {
      entry = BehindForks(entry, caller);
      if (__builtin_expect(entry->kind == EntryKind::kFork, 0)) return nullptr;
    }
    return IsAt(*entry, caller) && Holds(*entry) ? &entry->stack : nullptr;
  }

  // Searches the whole set. A stack that is found moves to where FindAgain searches.
  std::optional<std::uint32_t> Find(const CallerFrame& caller);

  // Keeps the stack `id` at `caller`, whose walk left `trail`. Does nothing if it cannot be proved
  // from the words alone.
  void Remember(const CallerFrame& caller, const StackTrail& trail, std::uint32_t id);

  // Forgets all if `module_epoch` differs from the previous one: then pcs may mean something else.
  void Enter(std::uint32_t module_epoch) {
    if (module_epoch != module_epoch_) Forget();
    module_epoch_ = module_epoch;
  }

  // Costs nothing, and touches no memory, if nothing is remembered.
  void Forget();

  // Stacks that are remembered from now on are proved up to `first` only.
  void BeginAt(const FirstFrame& first) { first_ = first; }
  [[nodiscard]] bool BeginsAt(const FirstFrame& first) const { return first_ == first; }

 private:
  // The stack pointer is the same, so the addresses of the words are too.
  using Words = StackWords;

  enum class EntryKind : std::uint8_t {
    kStack,
    kStackWithFp,  // only if the caller's fp is the same, too
    kFork,
  };

  // In an empty entry, pc is 0, which no caller's is.
  struct Entry {
    std::uint64_t pc;
    std::uint64_t sp;
    StackWordsRange words;  // in the arena; one stride at least
    std::uint64_t fp;
    std::uint32_t stack;
    EntryKind kind;
    const std::uint64_t* forked_word;  // of a fork, which has nothing else but pc and sp
    std::uint64_t reserved;            // so that a set is reached by a shift
  };
  static_assert(sizeof(Entry) == 64);

  static constexpr std::uint32_t kWays = 2;
  struct Set {
    Entry ways[kWays];
  };
  static_assert(sizeof(Set) == 128);

  static constexpr std::uint32_t kSets = 512;
  static constexpr std::uint32_t kStride = kWordsStride;
  static constexpr std::uint32_t kArenaSize = 4096;

  static constexpr std::uint32_t kMostForks = 3;

  // Where a set is: its offset, so that it takes no multiplication. sp is a multiple of 16 at a
  // call, so its lowest bits carry no information.
  static constexpr std::uint64_t kPlaceMask = (kSets - 1) << 7;
  static_assert(sizeof(Set) == 1 << 7);
  static std::uint64_t PlaceOf(const CallerFrame& caller) {
    return ((caller.pc << 7) ^ (caller.sp << 3)) & kPlaceMask;
  }
  static std::uint64_t PlaceBehind(std::uint64_t word, std::uint64_t place) {
    return (place ^ (word << 7)) & kPlaceMask;
  }
  const Set& SetAt(std::uint64_t place) const {
    return *reinterpret_cast<const Set*>(reinterpret_cast<const char*>(sets_) + place);
  }
  Set& SetAt(std::uint64_t place) {
    return const_cast<Set&>(static_cast<const StackMemo*>(this)->SetAt(place));
  }

  // The set to which forks lead from that of `caller`.
  struct Path {
    std::uint64_t place;
    std::uint32_t forks;
  };
  Path PathOf(const CallerFrame& caller) {
    return kCallersAreAlike ? FollowForks(caller) : Path{PlaceOf(caller), 0};
  }
  Path FollowForks(const CallerFrame& caller);
  void Insert(const Entry& entry, std::uint64_t place);
  // Puts a stack that was found behind another one of the same pc and sp where FindAgain finds it.
  void Separate(Entry& entry, const Path& path);
  // Makes a fork of `entry`, which is in front at `place`, by a word that differs now. Returns
  // false if none does.
  bool Fork(Entry& entry, std::uint64_t place);

  static bool IsFor(const Entry& entry, const CallerFrame& caller) {
    return entry.pc == caller.pc && entry.sp == caller.sp;
  }
  static bool IsFork(const Entry& entry) {
    return kCallersAreAlike && entry.kind == EntryKind::kFork;
  }
  // REQUIRES: it is no fork.
  static bool IsAt(const Entry& entry, const CallerFrame& caller) {
    if (__builtin_expect(entry.pc != caller.pc || entry.sp != caller.sp, 0)) return false;
    return !__builtin_expect(entry.kind != EntryKind::kStack && entry.fp != caller.fp, 0);
  }

  // Returns where the forks lead that begin at `entry`, as far as they are in front of their sets.
  __attribute__((always_inline)) const Entry* BehindForks(const Entry* entry,
                                                          const CallerFrame& caller) const {
    std::uint64_t place = PlaceOf(caller);
    // They may lead in a circle, since their words change.
    for (std::uint32_t forks = 0; entry->kind == EntryKind::kFork && forks < kMostForks; ++forks) {
      if (!IsFor(*entry, caller)) break;
      place = PlaceBehind(*entry->forked_word, place);
      entry = &SetAt(place).ways[0];
    }
    return entry;
  }

  __attribute__((always_inline)) static bool Holds(const Entry& entry) {
    return __builtin_expect(StillHold(entry.words), 1);
  }

  // Stacks that differ mostly do so in the innermost frames.
  static bool HoldsInnermost(const Entry& entry) {
    return StillHold({entry.words.begin, entry.words.begin + kStride});
  }

  std::uint32_t FirstSlotToProve(const StackTrail& trail) const;

  Set sets_[kSets];
  std::uint32_t module_epoch_ = 0;
  std::uint32_t arena_used_ = 0;
  FirstFrame first_;
  Words arena_[kArenaSize];
};

}  // namespace leakgate::agent
