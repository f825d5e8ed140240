// What the program has mapped, piece by piece, as it has told the kernel
// (interpose/interpose_mmap.cpp).
//
// A range leaves the table before the kernel unmaps it, and enters it after the kernel has mapped
// it. So another thread that is given the range next finds no trace of the first mapping. Where the
// kernel refuses, what was taken out is put back.
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

// Mappings that have left the table and are not yet forgotten. They are to be given to one of
// Forget, PutBack and Move. If tracing has begun anew since, in another region, there are none.
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
  // Begins anew, in another region, also in a fork child. REQUIRES: no other thread records.
  void Restart();

  // Takes out what lies in `range`. What reaches over its ends is cut there.
  [[nodiscard]] TakenMappings Take(AddressRange range);
  void Forget(TakenMappings taken);
  // Puts back what `is_mapped` confirms, which is called without the lock, but not where another
  // thread has mapped something anew.
  void PutBack(TakenMappings taken, bool (*is_mapped)(std::uint64_t address));
  // Moves them to `to`, at the distances that they had from `from`. They still belong to the calls
  // that made them. What is beyond the end of `to` is forgotten.
  void Move(TakenMappings taken, std::uint64_t from, AddressRange to);

  // Adds a mapping in the place of whatever was known to be there.
  void Add(AddressRange range, const MappingOrigin& origin, MappingNature nature);
  // Makes what is mapped in front of `range` go on into it. If that is of the context of `origin`,
  // it becomes one mapping, which is now of that call, as with realloc; else only the range is of
  // it.
  void Grow(AddressRange range, const MappingOrigin& origin);

  // Reserved pieces become committed by a call, or committed ones reserved.
  [[nodiscard]] bool HasReserved(AddressRange range);
  void Commit(AddressRange range, const MappingOrigin& origin, std::uint8_t protection);
  void Decommit(AddressRange range);

  [[nodiscard]] std::optional<MappingNature> NatureAt(std::uint64_t address);
  // Returns the end of the piece that begins at `address`; nullopt if none does.
  [[nodiscard]] std::optional<std::uint64_t> EndOfPieceAt(std::uint64_t address);

  // Adds a thread's stack. It has no address yet, and so is not in the tree. Counts a drop and
  // returns 0 if there is no room.
  [[nodiscard]] std::uint32_t AddStack(std::uint64_t bytes, const MappingOrigin& origin);
  // Says where a stack is. Called only by the thread that has the stack; needs no lock.
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
