// Finds memory of glibc's heaps that the program uses without the agent's knowledge. Pure: it is
// given the blocks that are known, and a function that reads words.
//
//   [tcache][known]{free}[not known, in use]{free}[known]{top} | got by sbrk | [known]{top}
//                        `--- a chunk ------'                  `-- a range -'
//
// A library that was loaded with RTLD_DEEPBIND, or that calls __libc_malloc, has its blocks there.
// They are looked for by glibc's own bookkeeping: each chunk tells its size, and the next chunk
// whether this one is in use. A chunk in a thread's cache bears a mark, which is also in the C
// library's data; a chunk of a fast list can be followed from there. When in doubt, a chunk is
// free: in freed memory there are pointers to all that was ever lost.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runner/region/region_copies.h"

namespace leakgate {

struct GlibcHeap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_program_break = false;  // then the program may have got parts of it by sbrk

  friend bool operator==(const GlibcHeap&, const GlibcHeap&) = default;
};

// A part that the program has got by sbrk.
struct SbrkRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const SbrkRange&, const SbrkRange&) = default;
};

struct UnseenHeap {
  std::vector<LiveBlock> chunks;  // sorted by address; of kUnseenStack
  std::vector<SbrkRange> ranges;
};

struct UnseenHeapSources {
  std::span<const GlibcHeap> heaps;            // sorted by address
  std::span<const LiveBlock> blocks;           // the known ones, sorted by address
  std::vector<std::uint64_t> allocator_words;  // of the C library's data and of thread-locals
  std::function<std::uint64_t(std::uint64_t address)> read;  // 0 if there is nothing
};

// A heap whose known blocks do not look like glibc's is left out.
[[nodiscard]] UnseenHeap FindUnseenHeap(UnseenHeapSources sources);

}  // namespace leakgate
