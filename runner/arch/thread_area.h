// Where the C library keeps what belongs to a thread: its static thread-locals, and its descriptor.
// Both are beside the thread pointer, and which is on which side depends on the processor.
//
//   x86-64     stack ... [ thread-locals ] thread pointer: [ descriptor ]
//   aarch64    stack ... [ descriptor ] thread pointer: [ 16 bytes ][ thread-locals ]
//
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace leakgate {

// glibc's descriptor is smaller.
inline constexpr std::uint64_t kMostDescriptorBytes = 2048;

struct ThreadArea {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Returns the range that has all static thread-locals of a thread, which take at most
// `local_bytes`, and its descriptor.
[[nodiscard]] ThreadArea ThreadAreaAt(std::uint64_t thread_pointer, std::uint64_t local_bytes);

// Returns where a thread's thread-locals of the program itself begin. `bytes` and `alignment` are
// those of the program's PT_TLS segment.
[[nodiscard]] std::uint64_t ProgramLocalsAt(std::uint64_t thread_pointer, std::uint64_t bytes,
                                            std::uint64_t alignment);

// The rest finds stacks that glibc keeps for later threads: such a stack ends in the descriptor of
// a thread that has ended.

// Returns the addresses in `words`, which begin at `address`, where a descriptor may be: they have
// what most descriptors have, which does not prove that they are some.
[[nodiscard]] std::vector<std::uint64_t> FindDescriptors(std::uint64_t address,
                                                         std::span<const std::uint64_t> words);

// Returns the word at an address; nothing if it cannot be read.
using WordReader = std::function<std::optional<std::uint64_t>(std::uint64_t address)>;

struct StackPlace {
  std::uint64_t guard = 0;  // the begin of the pages in front that cannot be read
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // of the mapping, which may be longer than the stack
};

// Returns where the stack ends that has a descriptor at `descriptor`, which FindDescriptors found;
// nothing if it is no descriptor. `threads` are the thread pointers of all threads that live.
[[nodiscard]] std::optional<std::uint64_t> EndOfKeptStack(std::uint64_t descriptor,
                                                          const StackPlace& place,
                                                          std::span<const std::uint64_t> threads,
                                                          const WordReader& read);

}  // namespace leakgate
