// Values of Windows' heap tracing (ETW): an event as it arrives, and what events mean. Portable, so
// that its tests and its fuzzer run on each system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace leakgate {

// As Windows lays it out.
struct EventProvider {
  std::uint32_t first = 0;
  std::uint16_t second = 0;
  std::uint16_t third = 0;
  std::array<std::uint8_t, 8> rest = {};

  bool operator==(const EventProvider&) const = default;
};

inline constexpr EventProvider kHeapProvider = {
    0x222962ab, 0x6180, 0x4b88, {0xa8, 0x25, 0x34, 0x6b, 0x75, 0xf2, 0xa2, 0x4a}};
inline constexpr EventProvider kStackProvider = {
    0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};
inline constexpr EventProvider kLossProvider = {
    0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

// The opcodes that are read. All others of the heap's that are known change no block.
enum class HeapOpcode : std::uint8_t { kAllocate = 0x21, kReallocate, kDestroyHeap, kFree };
inline constexpr std::uint8_t kStackOpcode = 32;
inline constexpr std::uint8_t kLostEventOpcode = 32;
inline constexpr std::uint8_t kLostBufferOpcode = 33;

// An event as the consumer gets it. The payload is the system's, and valid only until the
// consumer's callback returns.
struct TraceEvent {
  EventProvider provider;
  std::uint8_t opcode = 0;
  std::uint8_t pointer_bytes = 8;  // 4 if the event is of a 32-bit program
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time = 0;  // ticks of the session's clock
  std::span<const std::byte> payload = {};
};

// What a heap did, at a time, for a thread.
struct HeapOperation {
  HeapOpcode opcode = HeapOpcode::kAllocate;
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint64_t heap = 0;
  std::uint64_t address = 0;      // of the block; after a reallocation, where it is now
  std::uint64_t old_address = 0;  // of reallocations
  std::uint64_t size_bytes = 0;   // of allocations and reallocations
};

// The stack of the event that `thread` of `process` caused at `time`. Its frames are addresses of
// `pointer_bytes` each, innermost first, in the event's payload.
struct EventStack {
  std::uint64_t time = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint8_t pointer_bytes = 8;
  std::span<const std::byte> frames = {};
};

struct IgnoredEvent {};  // concerns no block
struct LostEvent {};
struct LostBuffer {};
struct CutEvent {};      // shorter than its kind is
struct UnknownEvent {};  // of a kind that is not known: it may change blocks

using DecodedEvent = std::variant<IgnoredEvent, HeapOperation, EventStack, LostEvent, LostBuffer,
                                  CutEvent, UnknownEvent>;

}  // namespace leakgate
