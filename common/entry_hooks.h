// The functions of an allocator that is part of the program's executable: calls of them are bound
// when it is linked, so the agent cannot stand in front of them by their names. Their first
// instructions are led to it instead.
//
//   malloc:    jmp hook              the program's code, five bytes of it changed
//   hook:      push *slot            slot: the agent's malloc, which calls `moved` for a block;
//              jmp *(slot + 8)       behind it the agent's code that calls what was pushed
//   moved:     what stood at malloc; jmp malloc+5
//
// The runner, which can read machine code, makes the code for its place near the executable, and
// writes it to the region before the agent has that. The agent maps it there and changes the
// functions, as the process begins: no other thread runs.
#pragma once

#include <cstddef>
#include <cstdint>

#define LEAKGATE_MALLOC_NAMES(apply)                                                         \
  apply(malloc) apply(free) apply(calloc) apply(realloc) apply(reallocarray) apply(memalign) \
      apply(aligned_alloc) apply(posix_memalign) apply(valloc) apply(pvalloc)
// The names are the Itanium C++ ABI's.
#define LEAKGATE_OPERATOR_NAMES(apply)                                                        \
  apply(_Znwm) apply(_Znam) apply(_ZnwmRKSt9nothrow_t) apply(_ZnamRKSt9nothrow_t)             \
      apply(_ZnwmSt11align_val_t) apply(_ZnamSt11align_val_t)                                 \
          apply(_ZnwmSt11align_val_tRKSt9nothrow_t) apply(_ZnamSt11align_val_tRKSt9nothrow_t) \
              apply(_ZdlPv) apply(_ZdaPv) apply(_ZdlPvm) apply(_ZdaPvm)                       \
                  apply(_ZdlPvRKSt9nothrow_t) apply(_ZdaPvRKSt9nothrow_t)                     \
                      apply(_ZdlPvSt11align_val_t) apply(_ZdaPvSt11align_val_t)               \
                          apply(_ZdlPvmSt11align_val_t) apply(_ZdaPvmSt11align_val_t)         \
                              apply(_ZdlPvSt11align_val_tRKSt9nothrow_t)                      \
                                  apply(_ZdaPvSt11align_val_tRKSt9nothrow_t)
// Functions that only some allocators have, and that no other one calls.
#define LEAKGATE_OTHER_ALLOCATION_NAMES(apply)                                                  \
  apply(mallocx) apply(rallocx) apply(xallocx) apply(dallocx) apply(sdallocx) apply(free_sized) \
      apply(free_aligned_sized) apply(tc_free_sized) apply(mi_free_size)                        \
          apply(mi_free_size_aligned)

namespace leakgate {

#define LEAKGATE_NAME(name) #name,
inline constexpr const char* kHookedFunctions[] = {
    LEAKGATE_MALLOC_NAMES(LEAKGATE_NAME) LEAKGATE_OPERATOR_NAMES(LEAKGATE_NAME)
        LEAKGATE_OTHER_ALLOCATION_NAMES(LEAKGATE_NAME)};
#undef LEAKGATE_NAME
inline constexpr std::size_t kHookedFunctionCount =
    sizeof(kHookedFunctions) / sizeof(kHookedFunctions[0]);

// What a function of the program's does that a budget file names ("allocators"). All of these are
// led to one function of the agent's, which calls them.
enum class NamedCall : std::uint32_t {
  kAllocate = 1,
  kFree = 2,
  kReallocate = 3,
  kReset = 4,    // takes back all of a pool's blocks
  kDestroy = 5,  // likewise, and the pool is gone
};
struct NamedCallSpec {
  static constexpr std::uint8_t kNone = 0xFF;

  NamedCall call;
  // Which of the arguments that are passed in registers, from 0; kNone: none.
  std::uint8_t pool;
  std::uint8_t block;
  std::uint8_t size;
  std::uint8_t count;
  std::uint8_t result;  // points to where the block is stored
  std::uint8_t reserved[3];
};
static_assert(sizeof(NamedCallSpec) == 12);

struct EntryHook {
  std::uint32_t function;     // in kHookedFunctions, or behind it the number of a NamedCallSpec
  std::uint32_t patch_bytes;  // 0: another name of a function that has an entry with a patch
  std::uint64_t address;      // where the program's code changes
  std::uint64_t slot;         // of two words, where the code finds the agent's
  std::uint64_t moved;        // the code that does what the function did
  unsigned char patch[16];    // what is written to `address`
};
static_assert(sizeof(EntryHook) == 48);

// In the region, written by the runner before the agent has it.
struct EntryHooks {
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostNamed = 64;
  static constexpr std::size_t kMostCodeBytes = 24576;

  std::uint64_t code_address;  // where `code` is to be mapped; a multiple of the page's size
  std::uint32_t code_bytes;
  std::uint32_t count;          // 0: the program has no function that is hooked
  std::uint32_t has_allocator;  // 1 if it has malloc
  // 1 if one function frees what several kinds of functions have allocated.
  std::uint32_t frees_any_kind;
  NamedCallSpec named[kMostNamed];
  EntryHook hooks[kMost];
  unsigned char code[kMostCodeBytes];
};
static_assert(kHookedFunctionCount + EntryHooks::kMostNamed <= EntryHooks::kMost);
static_assert(sizeof(EntryHooks) <= 57344);  // between the header and the mailbox (region_layout.h)

}  // namespace leakgate
