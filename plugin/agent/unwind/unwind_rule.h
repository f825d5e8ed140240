// An unwind rule: how to get from a frame at one pc to its caller, reduced to what the stack
// pointer (sp) and the frame pointer (fp) alone can show. Nearly every frame has such a rule. The
// few that need another register or a real expression are kFull
// (StackWalker::WalkWithAllRegisters).
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/frame_info.h"

namespace leakgate::agent {

struct UnwindRule {
  enum class Kind : std::uint8_t {
    kCompact,    // the members below are the whole rule
    kFull,       // needs the frame row and more registers
    kOutermost,  // there is no caller
    kNoInfo,     // no frame description covers the pc
    kBadInfo,    // one does, but cannot be understood
  };
  enum class Cfa : std::uint8_t {
    kSpPlus,  // cfa = sp + cfa_offset
    kFpPlus,  // cfa = fp + cfa_offset
    kAtSp,    // cfa = *(sp + cfa_offset)   signal trampolines
    kAtFp,    // cfa = *(fp + cfa_offset)   functions that realign the stack
  };
  enum class Slot : std::uint8_t {
    kSame,   // fp = fp
    kAtCfa,  // *(cfa + offset)
    kAtSp,   // *(sp + offset)
    kAtFp,   // *(fp + offset)
  };

  Kind kind = Kind::kNoInfo;
  Cfa cfa = Cfa::kSpPlus;
  Slot fp = Slot::kSame;
  Slot return_address = Slot::kAtCfa;
  bool is_signal_frame = false;  // the caller was interrupted: its pc is exact
  // Compact in the form that compilers mostly use: cfa = sp or fp + cfa_offset, the rest is at the
  // cfa.
  bool is_plain = false;
  std::int32_t cfa_offset = 0;
  std::int32_t fp_offset = 0;
  std::int32_t return_address_offset = 0;
};

// Returns the rule for `pc` in the module that `section` belongs to.
[[nodiscard]] UnwindRule FindRule(const FrameSection& section, std::uint64_t pc,
                                  FrameRowReader& reader);

// The unwind rules of the pcs that a thread has walked through, by pc. Direct
// mapped; a collision costs a look-up, never a wrong answer.
//
// Its entries are spread over few pages at first, and over more when there are more rules: most
// threads walk through few pcs, and each page costs them a page fault.
//
// Used by its own thread only. Forget() when a module may have been unmapped.
class RuleCache {
 public:
  // REQUIRES: zeroed memory, which it leaves untouched.
  RuleCache() {}  // NOLINT(modernize-use-equals-default): the entries are a union's

  struct Entry {
    std::uint64_t lookup_pc = 0;
    std::uint32_t module = 0;
    UnwindRule rule;
  };

  // Returns the entry's place, by Fibonacci hashing (Knuth, TAOCP 6.4): it holds `lookup_pc` if
  // that was cached; otherwise the caller fills it.
  Entry& Slot(std::uint64_t lookup_pc) {
    return entries_[(lookup_pc * 0x9E37'79B9'7F4A'7C15ULL) >> shift_];
  }

  // Must be called before an entry is filled. Returns the place that the entry then has.
  Entry& SlotToFill(std::uint64_t lookup_pc) {
    if (++filled_ > UsedEntries() / 2 && UsedEntries() < kEntries) Grow();
    return Slot(lookup_pc);
  }

  void Forget() {
    for (std::uint32_t i = 0; i < UsedEntries(); ++i) entries_[i] = {};
    filled_ = 0;
  }

 private:
  static constexpr std::uint32_t kFirstBits = 8;
  static constexpr std::uint32_t kBits = 12;
  static constexpr std::uint32_t kEntries = 1U << kBits;

  std::uint32_t UsedEntries() const { return 1U << (64 - shift_); }

  // Uses twice as many entries. Each entry at i belongs to 2i or to 2i + 1 then. The last one is
  // moved first, so that none is overwritten before it has been moved.
  void Grow() {
    std::uint32_t i = UsedEntries();
    --shift_;
    while (i-- > 0) {
      const Entry entry = entries_[i];
      entries_[2 * i] = entries_[2 * i + 1] = {};
      if (entry.lookup_pc != 0) Slot(entry.lookup_pc) = entry;
    }
  }

  std::uint32_t shift_ = 64 - kFirstBits;
  std::uint32_t filled_ = 0;  // how often an entry was filled since Forget()

  union {
    Entry entries_[kEntries];
  };
};
static_assert(sizeof(RuleCache::Entry) == 32);

}  // namespace leakgate::agent
