// What the programs of `leakgate doctor --self-test` (plugin/self_test) leave behind, and the
// runner expects (runner/run/nt/self_test.cpp).
//
// The program is started once for each case, whose name is its argument. What a case leaves is
// known by its size: the first block has SizeOf(0) bytes, the next SizeOf(1), and so on; nothing
// else in the process has these. It also frees as many blocks, which have kFreedMore bytes more.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate::self_test {

inline constexpr std::uint64_t kStepBytes = 10'000;
constexpr std::uint64_t SizeOf(std::uint64_t index) { return 100'003 + index * kStepBytes; }
inline constexpr std::uint64_t kFreedMore = 1'000;

// The initialiser of a library leaves such a block. The program imports one, in each of its cases,
// so it is initialised before the program's first instruction. kFirstCase is nothing else.
inline constexpr std::uint64_t kInitialiserBytes = 90'003;
inline constexpr char kFirstCase[] = "first";

struct Way {
  const char* name;
  std::uint64_t most_added_bytes = 0;  // by the function, to what it is asked for
};

// Loads the same library under another name, whose initialiser leaves its block, too.
inline constexpr char kLateCase[] = "late";
inline constexpr Way kLateWays[] = {{"a function of a library that was loaded later"},
                                    {"HeapAlloc by GetProcAddress"},
                                    {"malloc of a runtime that was loaded later"}};

// One block by each function.
inline constexpr char kFunctionsCase[] = "functions";
inline constexpr std::uint64_t kMostOfText = 32;  // its length, its end, and rounding
inline constexpr Way kFunctions[] = {{"malloc"},         {"calloc"},
                                     {"realloc"},        {"operator new"},
                                     {"HeapAlloc"},      {"HeapReAlloc"},
                                     {"LocalAlloc"},     {"GlobalAlloc"},
                                     {"CoTaskMemAlloc"}, {"SysAllocString", kMostOfText}};

// In a window: blocks of each size up to kSmallMost, in three heaps, of which every second is
// freed.
inline constexpr char kSmallCase[] = "small";
inline constexpr std::uint64_t kSmallMost = 64;
inline constexpr std::uint64_t kSmallEach = 520;
inline constexpr std::uint64_t kSmallHeaps = 3;

// In a window: blocks that hold the stack that the system finds at the function that allocates
// them, and one that holds the line of an inlined function that allocates it.
inline constexpr char kStacksCase[] = "stacks";
inline constexpr std::uint64_t kSeenMost = 120;
struct SeenStack {
  std::uint64_t count;
  std::uint64_t pcs[kSeenMost];  // innermost first
};
struct SeenLine {
  std::uint64_t line;
  std::uint64_t unused[kSeenMost + 1];
};
inline constexpr char kInlinedFunction[] = "AllocateInlined";

// In a window: blocks that something holds, each in another way, then some that nothing holds.
inline constexpr char kReachCase[] = "reach";
inline constexpr const char* kHeldBy[] = {
    "a global variable", "a thread-local variable", "a TLS slot", "an FLS slot",
    "a block",           "memory of VirtualAlloc",  "a section",  "memory that was made read-only",
    "another heap",      "another thread's stack"};
inline constexpr const char* kLost[] = {"one block", "a chain", "its second block", "a cycle",
                                        "its second block"};

// Maps memory in each way. What a way leaves has MappedBytes of its index; nothing else has.
inline constexpr char kMappingsCase[] = "mappings";
constexpr std::uint64_t MappedBytes(std::uint64_t index) { return (203 + index * 10) * 4096; }
enum class MappedEnd { kCommitted, kReserved, kGone };
struct MappedWay {
  const char* name;
  AllocationKind kind = AllocationKind::kMapped;
  MappedEnd end = MappedEnd::kCommitted;
  const char* function = nullptr;  // of kernelbase.dll, which Windows before 10 1803 does not have
};
inline constexpr MappedWay kMappedWays[] = {
    {"VirtualAlloc"},
    {"reserving", AllocationKind::kMapped, MappedEnd::kReserved},
    {"committing later"},
    {"decommitting", AllocationKind::kMapped, MappedEnd::kReserved},
    {"VirtualFree", AllocationKind::kMapped, MappedEnd::kGone},
    {"MapViewOfFile of a section", AllocationKind::kMappedShared},
    {"MapViewOfFile of a file", AllocationKind::kMappedFile},
    {"UnmapViewOfFile", AllocationKind::kMappedShared, MappedEnd::kGone},
    {"VirtualAlloc2", AllocationKind::kMapped, MappedEnd::kCommitted, "VirtualAlloc2"},
    {"MapViewOfFile3", AllocationKind::kMappedShared, MappedEnd::kCommitted, "MapViewOfFile3"}};

// Allocates and frees blocks of kEventBytes, on kEventThreads at once: so many that all event
// buffers are used again and again.
inline constexpr char kEventsCase[] = "events";
inline constexpr std::uint64_t kEventBytes = 3'217;
inline constexpr std::uint64_t kEventThreads = 2;
inline constexpr std::uint64_t kEventPairs = 50'000;  // of each thread

// Leaves kKilledBlocks of SizeOf(0) and ends as TerminateProcess has it.
inline constexpr char kKilledCase[] = "killed";
inline constexpr std::uint64_t kKilledBlocks = 500;
inline constexpr unsigned kKilledExit = 42;

}  // namespace leakgate::self_test
