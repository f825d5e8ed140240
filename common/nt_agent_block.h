// What the runner hands to the agent of a process on Windows, while that process is suspended.
//
// The runner leads the image's import directory to a block of its own near the image, whose first
// descriptor imports the agent. So the agent is initialised before every other library:
//
//   block        NtAgentBlock, padded to kNtAgentBlockRoom
//                the agent's import descriptor, then those of the image, then an empty one
//                the agent's lookup table and address table: ordinal kNtAgentOrdinal, end
//                the agent's path
//   directory    leads to the first descriptor, so the block begins kNtAgentBlockRoom before it
//
// A program may import the agent itself, as its first library (leakgate::agent_import). Then its
// image has a writable section named kNtAgentSection, which begins with a NtAgentBlock of zeros.
// The runner fills that, and the import directory stays as it is.
//
// The handles are duplicated into the process. Nothing has a name, so no other process can take
// one. The agent closes `region` once it has mapped it, and protects the others from being closed.
//
// The mailbox (common/region_layout.h) has no futexes here, but two events that reset themselves:
// the agent sets `ask` after it has raised Mailbox::request, and the runner sets `reply` after it
// has set Mailbox::reply. Each side looks at the number again after each wake-up.
#pragma once

#include <cstdint>

namespace leakgate {

inline constexpr std::uint64_t kNtAgentMagic = 0x6b6c'622d'746e'676cULL;  // "lgnt-blk"
inline constexpr char kNtAgentSection[] = ".lkgate";
inline constexpr std::uint16_t kNtAgentOrdinal = 1;

// Where a directory of an image begins, as an offset from the image, and its size.
struct NtDirectory {
  std::uint32_t offset;
  std::uint32_t bytes;
};

struct NtAgentBlock {
  std::uint64_t magic;  // kNtAgentMagic; 0: the process is not traced
  std::uint32_t layout_version;
  // 1 if `imports` and `bound_imports` are to be put back into the image's header.
  std::uint32_t restores_imports;
  std::uint64_t region;  // the section; to be mapped for reading and writing
  std::uint64_t ask;
  std::uint64_t reply;
  std::uint64_t runner;  // the runner's process, which can only be waited for
  NtDirectory imports;   // as they were in the image's header
  NtDirectory bound_imports;
};
static_assert(sizeof(NtAgentBlock) == 64);

inline constexpr std::uint64_t kNtAgentBlockRoom = 64;
static_assert(sizeof(NtAgentBlock) <= kNtAgentBlockRoom);

}  // namespace leakgate
