// What StartTrace is asked for beyond its own parameters, as the system reads it behind a session's
// properties. The numbers are those that Microsoft's own TraceEvent library passes:
//
//   word    low half           high half
//   0       words in all       items
//   1       words of the item  2: processes
//   2 ..    their PIDs
//   n       words of the item  3: of which events stacks are taken
//   n+1 ..  the events, kHeapStackGroup | opcode
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace leakgate {

inline constexpr std::uint32_t kHeapStackGroup = 0x1000;

// Flags of a session that has such an extension; its offset in bytes is added.
inline constexpr std::uint32_t kHasStartExtension = 0x80ff'0000;

[[nodiscard]] std::vector<std::uint32_t> MakeStartExtension(
    std::span<const std::uint32_t> processes, std::span<const std::uint32_t> stack_events);

}  // namespace leakgate
