// What the program has mapped, piece by piece, as the kernel is told (interpose_mmap.cpp).
//
// A range leaves the table before the kernel unmaps it and enters it after the kernel
// has mapped it: whoever is given the range next, on another thread, finds no trace of
// the first. Where the kernel refuses, what was taken out is put back.
//
//   munmap   Take(range)   [kernel]   Forget, or PutBack
//   mmap                   [kernel]   Add
//   mremap   Take(old)     [kernel]   Move(to new) and Grow, or PutBack
//
// Taken records stay as they are in the region meanwhile. One short lock for all,
// which is never held across a system call. REQUIRES, of everything: the thread's
// activity is kRecording, so that a signal handler of the host's does not come here
// while this thread holds the lock.
#pragma once

#include <cstdint>
#include <optional>

#include "plugin/agent/base/epoch.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/mappings/mapping_edit.h"
#include "plugin/agent/mappings/mapping_tree.h"

namespace leakgate::agent {

// Mappings that are in the table no more, and not yet forgotten. To be given to one of
// Forget, PutBack and Move. Where tracing has begun anew since, in another region, there
// are none.
class TakenMappings {
 public:
  bool empty() const { return Tree() == 0; }

 private:
  friend class MappingTable;

  mapping_tree::Tree Tree() const { return span_ == g_span ? tree_ : 0; }

  mapping_tree::Tree tree_ = 0;
  std::uint32_t span_ = 0;
};

class MappingTable {
 public:
  // Begins anew, in another region. No other thread records meanwhile.
  void Restart();

  // What lies in `range`; what reaches over its ends is cut there.
  [[nodiscard]] TakenMappings Take(AddressRange range);
  void Forget(TakenMappings taken);
  // But for what `is_mapped` denies, which is asked without the lock, and what
  // another thread has mapped anew there.
  void PutBack(TakenMappings taken, bool (*is_mapped)(std::uint64_t address));
  // To `to`, at the distances that they had from `from`; what is beyond its end is
  // forgotten. Keeps whose they are.
  void Move(TakenMappings taken, std::uint64_t from, AddressRange to);

  // In place of whatever was known to be there.
  void Add(AddressRange range, const MappingOrigin& origin, MappingNature nature);
  // What was mapped in front of `range` goes on into it. In the context of `origin`:
  // one mapping, which is now of that call, as with realloc. Else the range alone is.
  void Grow(AddressRange range, const MappingOrigin& origin);

  // Reserved pieces become committed, by the call that does it; and the reverse.
  [[nodiscard]] bool HasReserved(AddressRange range);
  void Commit(AddressRange range, const MappingOrigin& origin, std::uint8_t protection);
  void Decommit(AddressRange range);

  [[nodiscard]] std::optional<MappingNature> NatureAt(std::uint64_t address);
  // The end of the piece that begins at `address`; nullopt if none does.
  [[nodiscard]] std::optional<std::uint64_t> EndOfPieceAt(std::uint64_t address);

  // A thread's stack: not in the order of addresses, for it has none yet. 0, with a
  // drop, if there is no room.
  [[nodiscard]] std::uint32_t AddStack(std::uint64_t bytes, const MappingOrigin& origin);
  // By the thread that has the stack, only; needs no lock.
  static void PlaceStack(std::uint32_t id, std::uint64_t begin);
  void ForgetStack(std::uint32_t id);

 private:
  using Tree = mapping_tree::Tree;

  // With the lock held, all of these.
  std::uint32_t NewRecord();
  void Release(std::uint32_t id);
  void ReleaseAll(Tree tree);
  void CutAt(std::uint64_t address);
  Tree TakeOut(AddressRange range);
  void AddPiece(AddressRange range, const MappingOrigin& origin, MappingNature nature);
  void JoinWithNext(std::uint32_t id);
  void JoinAround(std::uint32_t id);
  bool Overlaps(AddressRange range) const;

  SpinLock lock_;
  Tree tree_ = 0;
  std::uint32_t unused_ = 0;  // a list, by `above`
};

extern LEAKGATE_INTERNAL MappingTable g_mappings;

}  // namespace leakgate::agent
