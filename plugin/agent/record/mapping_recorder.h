// Records what calls of the mmap family do, on the thread that makes them, before and after the
// kernel's work (mappings/mapping_table.h says in which order).
//
// The host's errno is never touched. Windows that wait to be settled are settled before the
// mappings change.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/recorder.h"

namespace leakgate::agent {

// Whether this thread's call from `caller_pc` is to be recorded. What an allocator other than the C
// library's maps for its blocks is not, since the blocks themselves are counted.
[[nodiscard]] bool RecordsMappings(std::uint64_t caller_pc);

// The pages that hold `bytes` from `address` on.
[[nodiscard]] AddressRange PagesOf(const void* address, std::size_t bytes);

// Tells the present window, thread and allowance, and the stack at `caller`. Counts a drop and
// returns false if there is no context to be had.
[[nodiscard]] bool OriginAt(Recording recording, const CallerFrame& caller, MappingOrigin& origin);

// The functions below REQUIRE RecordsMappings. Those that come after the kernel's work REQUIRE that
// it held before: tracing may have been disabled meanwhile.

// What is mapped at `address`; a shared mapping that can be read and written if that is
// not known.
[[nodiscard]] MappingNature NatureAt(const void* address);
// The piece that begins at `address`; empty if none does.
[[nodiscard]] AddressRange PieceAt(const void* address);

// Before the kernel maps something somewhere: the thread's windows are settled.
void BeforeMapping();
void AfterMapping(AddressRange range, MappingNature nature, const CallerFrame& caller);

// Before the kernel unmaps `range`, or maps something in its place.
[[nodiscard]] TakenMappings BeforeUnmapping(AddressRange range);
void AfterUnmapping(TakenMappings taken);
// It did not: what is still mapped is put back.
void UnmappingFailed(TakenMappings taken);

// An mremap that moved `taken`, of `from`, to `to`, or changed its size.
void AfterMoving(TakenMappings taken, AddressRange from, AddressRange to,
                 const CallerFrame& caller);

// An mprotect.
void AfterProtecting(AddressRange range, int protection, const CallerFrame& caller);

}  // namespace leakgate::agent
