// Blocks of the program's own pools (leakgate/pool.h), which divide memory that they have from
// elsewhere: common/pool_places.h says where they are in the live map.
//
// The block of an allocator in which pools have had blocks is a chunk. Its slot says so, so its
// free, which takes the blocks in it along, is not on the fast path of other frees. So does an
// unmapping. A block of a pool may be the chunk of another one.
//
// Functions with a Recording are called while the thread records. The others may be called on any
// thread, and do nothing where nothing is recorded. Their tables are in memory of the agent's own,
// under one lock, which most calls do not take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/threads/recording.h"

namespace leakgate::agent {

// Returns the number of a new pool, for the functions below. Counts a drop and returns 0 if there
// are too many; 0 stands for a pool that nobody records.
[[nodiscard]] std::uint32_t CreatePool(std::string_view name);

// Records that the pool has given out `bytes` at `block`. A block of no bytes is none.
void AllocateInPool(std::uint32_t pool, const void* block, std::size_t bytes,
                    const CallerFrame& caller);

// Records that the pool has taken back the block. Does nothing if it has no such block.
void FreeInPool(std::uint32_t pool, const void* block);

// Records that the pool has taken back all of its blocks.
void ResetPool(std::uint32_t pool);

// Does the same, and lets a later pool have the number.
void DestroyPool(std::uint32_t pool);

// Does so whichever pool has given out the block.
void FreePooled(const void* block);

// These are for pools that are told apart by an object of the program's, at the address `object`: a
// pool is created when it first gives out a block.
void AllocateInPoolOf(std::uint64_t object, const void* block, std::size_t bytes,
                      const CallerFrame& caller);
void ResetPoolOf(std::uint64_t object, bool is_destroyed);

// Forgets all, for a new region. REQUIRES: no thread records.
void RestartPools();

}  // namespace leakgate::agent
