// The machine code of calls: where a call instruction goes, and where the stub goes that it may
// lead to. The code is a file's, which is not trusted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace leakgate {

// Returns the `size` bytes of code at `address`; nothing where there is no code.
using CodeReader =
    std::function<std::span<const std::uint8_t>(std::uint64_t address, std::size_t size)>;

// What an instruction that ends at a return address may be. Instructions are of different lengths,
// so the bytes in front may be read as more than one of these.
struct CallCode {
  std::optional<std::uint64_t> slot;      // a call of the function whose address is there
  std::optional<std::uint64_t> function;  // a call of the function there
  bool is_through_pointer = false;        // a call of what a register or any memory points to
};
[[nodiscard]] CallCode ReadCall(std::uint64_t return_address, const CodeReader& read);

// The slot through which the code at `stub` jumps on, at once or by way of another stub; nothing if
// it does something else.
[[nodiscard]] std::optional<std::uint64_t> FindSlotOfStub(std::uint64_t stub,
                                                          const CodeReader& read);

}  // namespace leakgate
