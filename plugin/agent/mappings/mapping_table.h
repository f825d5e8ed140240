// The mappings of the program, piece by piece, as its calls have made them
// (interpose/interpose_mmap.cpp).
//
// A range leaves the table before the kernel unmaps it, and enters it after the kernel has mapped
// it. So another thread that is given the range next finds no trace of the first mapping. If the
// kernel refuses, the removed pieces are put back.
//
//   munmap   Take(range)   [kernel]   Forget, or PutBack
//   mmap                   [kernel]   Add
//   mremap   Take(old)     [kernel]   Move(to new) and Grow, or PutBack
//
// Taken records stay in the region meanwhile. There is one short lock for all, which is never held
// across a system call. Every function REQUIRES that the thread is recording, so that no signal
// handler of the host's comes here while this thread holds the lock.
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

// Mappings that have been taken out of the table and are not yet forgotten. They must be passed to
// one of Forget, PutBack and Move. If tracing has been enabled again since, in another region,
// there are none.
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
  // Starts again in another region, also in a fork child. REQUIRES: no other thread records.
  void Restart();

  // Takes out the pieces in `range`. Pieces that reach beyond its ends are cut there.
  [[nodiscard]] TakenMappings Take(AddressRange range);
  void Forget(TakenMappings taken);
  // Puts back the pieces that `is_mapped` confirms, except where another thread has mapped
  // something since. `is_mapped` is called without the lock.
  void PutBack(TakenMappings taken, bool (*is_mapped)(std::uint64_t address));
  // Moves them to `to`, at the same distances as from `from`. They still belong to the calls that
  // made them. Pieces beyond the end of `to` are forgotten.
  void Move(TakenMappings taken, std::uint64_t from, AddressRange to);

  // Adds a mapping, which replaces whatever was known to be there.
  void Add(AddressRange range, const MappingOrigin& origin, MappingNature nature);
  // Extends the mapping in front of `range` over it. If that mapping has the context of `origin`,
  // the two become one mapping, which now belongs to that call, as with realloc; otherwise only the
  // range belongs to it.
  void Grow(AddressRange range, const MappingOrigin& origin);

  // Commits reserved pieces by a call, or makes committed ones reserved.
  [[nodiscard]] bool HasReserved(AddressRange range);
  void Commit(AddressRange range, const MappingOrigin& origin, std::uint8_t protection);
  void Decommit(AddressRange range);

  [[nodiscard]] std::optional<MappingNature> NatureAt(std::uint64_t address);
  // Returns the end of the piece that begins at `address`; nullopt if none does.
  [[nodiscard]] std::optional<std::uint64_t> EndOfPieceAt(std::uint64_t address);

  // Adds a thread's stack. It has no address yet, and so is not in the tree. Counts a drop and
  // returns 0 if there is no room.
  [[nodiscard]] std::uint32_t AddStack(std::uint64_t bytes, const MappingOrigin& origin);
  // Sets where a stack is. Called only by the thread that has the stack; needs no lock.
  static void PlaceStack(std::uint32_t id, std::uint64_t begin);
  void ForgetStack(std::uint32_t id);

 private:
  using Tree = mapping_tree::Tree;

  // All of these REQUIRE that the lock is held.
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
  std::uint32_t unused_ = 0;  // records linked by `above`
};

extern LEAKGATE_INTERNAL MappingTable g_mappings;

}  // namespace leakgate::agent
