// Reads the machine code of calls: where a call instruction leads, and where the stub leads that it
// may call. The code comes from a file, which is not trusted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace leakgate {

// Returns the `size` bytes of code at `address`; nothing if there is no code.
using CodeReader =
    std::function<std::span<const std::uint8_t>(std::uint64_t address, std::size_t size)>;

// What the instruction in front of a return address may call. Instructions have different lengths,
// so the bytes may be read as more than one of these.
struct CallCode {
  std::optional<std::uint64_t> slot;      // it calls the function whose address is stored here
  std::optional<std::uint64_t> function;  // it calls the function at this address
  bool is_through_pointer = false;        // it calls through a register or through memory
};
[[nodiscard]] CallCode ReadCall(std::uint64_t return_address, const CodeReader& read);

// Returns the slot through which the code at `stub` jumps, directly or through another stub;
// nothing if the code does something else.
[[nodiscard]] std::optional<std::uint64_t> FindSlotOfStub(std::uint64_t stub,
                                                          const CodeReader& read);

}  // namespace leakgate
