// Finds the roots: memory that the program can reach without a pointer from the heap. These are its
// globals, its threads' stacks and thread-locals, and what it has mapped. The heap is no root.
//
//   a thread's mapping    [guard][ dead | sp: stack | thread-locals | descriptor ][...]
//                                         `--------- roots ----------------------'
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/process/proc_files.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/process_memory.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"

namespace leakgate {

// A program or library as it is mapped, by its ELF header in memory.
struct MappedModule {
  std::string path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // of its last segment, with the part that no file backs
  // Whole pages. Where segments are far from each other, as on aarch64, anything else may be mapped
  // between them.
  std::vector<AddressRange> segments{};
  std::uint64_t bias = 0;                // run-time address minus the address in the file
  std::uint64_t thread_local_bytes = 0;  // 0: it has none
  std::uint64_t thread_local_alignment = 1;
  std::uint64_t inode = 0;

  [[nodiscard]] bool Has(std::uint64_t address) const;
};

enum class RootKind { kGlobal, kThreadLocal, kMapping, kStack };

struct RootRange {
  AddressRange range;
  RootKind kind = RootKind::kMapping;
  WordRule rule = WordRule::kNone;
  int tid = 0;  // set for stacks and thread-locals

  friend bool operator==(const RootRange&, const RootRange&) = default;
};

// Returns the modules that are mapped, sorted by address.
[[nodiscard]] std::vector<MappedModule> FindModules(const std::vector<MappedRange>& maps,
                                                    ProcessMemory& memory);

struct RootSources {
  const std::vector<MappedRange>& maps;
  const std::vector<MappedModule>& modules;
  const std::vector<FrozenThread>& threads;
  const HeapCopy& heap;
  const std::vector<OwnRange>& own_ranges;    // the agent's
  const std::vector<KeptRange>& kept_ranges;  // within its module, what is the program's
  const std::vector<ReallocatedCopy>& reallocated;
  const std::vector<AddressRange>& arenas;  // as FindArenaHeaps returns them
  ProcessMemory& memory;
  // Whether all memory may lead to blocks but that of `heap`, which has some blocks only.
  bool is_rest_of_heap_root = false;
};

// Returns the roots, sorted by kind: the kind that says most about a holder comes first.
[[nodiscard]] std::vector<RootRange> FindRoots(const RootSources& sources);

// Returns further memory that may hold roots, for where blocks would be lost otherwise: pages that
// the program has made inaccessible, and data that it has made read-only.
[[nodiscard]] std::vector<RootRange> FindHiddenRoots(const RootSources& sources);

// Returns glibc's heaps for threads other than the main one, each as far as it has ever been used.
[[nodiscard]] std::vector<AddressRange> FindArenaHeaps(const std::vector<MappedRange>& maps,
                                                       const ProcessMemory& memory);

// Returns the range that has the static thread-locals of `thread` and its descriptor.
[[nodiscard]] AddressRange ThreadLocalsOf(const FrozenThread& thread,
                                          const std::vector<MappedModule>& modules);

}  // namespace leakgate
