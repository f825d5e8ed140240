// Where the program can get at memory from by itself: its globals, its threads'
// stacks and thread-locals, and what it has mapped. The heap is none of it.
//
//   a thread's mapping    [guard][ dead | sp: stack | thread-locals | descriptor ][...]
//                                         `--------- roots ----------------------'
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/process/memory_layout.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/process_memory.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// A program or library as it is mapped: its ELF header's word for it.
struct MappedModule {
  std::string path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;                 // of its last segment, what no file backs included
  std::uint64_t bias = 0;                // run-time address minus the address in the file
  std::uint64_t thread_local_bytes = 0;  // at most
  std::uint64_t thread_local_end = 0;    // of the program's: where they end, from their begin
  std::uint64_t inode = 0;
};

enum class RootKind { kGlobal, kThreadLocal, kMapping, kStack };

struct RootRange {
  AddressRange range;
  RootKind kind = RootKind::kMapping;
  WordRule rule = WordRule::kNone;
  int tid = 0;  // of a stack and of thread-locals

  friend bool operator==(const RootRange&, const RootRange&) = default;
};

// The modules that are mapped, by address.
[[nodiscard]] std::vector<MappedModule> FindModules(const std::vector<MappedRange>& maps,
                                                    const ProcessMemory& memory);

// What a function that calls no other may use below its stack pointer (System V ABI).
inline constexpr std::uint64_t kRedZoneBytes = 128;

struct RootSources {
  const std::vector<MappedRange>& maps;
  const std::vector<MappedModule>& modules;
  const std::vector<FrozenThread>& threads;
  const HeapCopy& heap;
  const std::vector<OwnRange>& own_ranges;  // the agent's
  const ProcessMemory& memory;
};

// The kinds in the order in which they are to be asked for a holder.
[[nodiscard]] std::vector<RootRange> FindRoots(const RootSources& sources);

// What is thread-local of `thread`: from the first of its static ones to the end of its
// descriptor.
[[nodiscard]] AddressRange ThreadLocalsOf(const FrozenThread& thread,
                                          const std::vector<MappedModule>& modules);

}  // namespace leakgate
