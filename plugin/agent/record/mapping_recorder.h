// Records what calls of the mmap family do, on the thread that makes them, before and after the
// kernel's work (mappings/mapping_table.h says in which order).
//
// The host's errno is never changed. Windows that wait to be settled are settled before the
// mappings change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/recorder.h"

namespace leakgate::agent {

// Returns whether this thread's call from `caller_pc` is to be recorded. Mappings that an allocator
// other than the C library's makes for its blocks are not, since the blocks themselves are counted.
[[nodiscard]] bool RecordsMappings(std::uint64_t caller_pc);

// The pages that hold `bytes` from `address` on.
[[nodiscard]] AddressRange PagesOf(const void* address, std::size_t bytes);

// Fills in the present window, thread and allowance, and the stack at `caller`. Counts a drop and
// returns false if there is no context left.
[[nodiscard]] bool OriginAt(Recording recording, const CallerFrame& caller, MappingOrigin& origin);

// The functions below REQUIRE RecordsMappings. Those that come after the kernel's work REQUIRE that
// it was true before: tracing may have been disabled meanwhile.

// Returns what is mapped at `address`; a shared mapping that can be read and written if that is not
// known.
[[nodiscard]] MappingNature NatureAt(const void* address);
// Returns the piece that begins at `address`; empty if there is none.
[[nodiscard]] AddressRange PieceAt(const void* address);

// Called before the kernel maps something somewhere: the thread's windows are settled.
void BeforeMapping();
void AfterMapping(AddressRange range, MappingNature nature, const CallerFrame& caller);

// Called before the kernel unmaps `range`, or maps something in its place.
[[nodiscard]] TakenMappings BeforeUnmapping(AddressRange range);
void AfterUnmapping(TakenMappings taken);
// Called if the kernel has refused: the pieces that are still mapped are put back.
void UnmappingFailed(TakenMappings taken);

// Called after an mremap that moved `taken`, of `from`, to `to`, or changed its size.
void AfterMoving(TakenMappings taken, AddressRange from, AddressRange to,
                 const CallerFrame& caller);

// Called after an mprotect, or after memory was committed or decommitted. `protection` has the bits
// of mapping_edit.h.
void AfterProtecting(AddressRange range, unsigned protection, const CallerFrame& caller);

}  // namespace leakgate::agent
