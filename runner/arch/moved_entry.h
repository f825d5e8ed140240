// Moves the first instructions of a function elsewhere, to make room for a jump. The code comes
// from a file, which is not trusted. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <tl/expected.hpp>
#include <vector>

namespace leakgate {

struct FunctionCode {
  std::uint64_t address = 0;
  // The code from there on: the whole function, and behind it what is padding or belongs to others.
  std::span<const std::uint8_t> code;
  std::size_t bytes = 0;  // of the function itself
};

struct MovedEntry {
  std::uint64_t address = 0;        // from where on code was moved: behind a landing mark, if any
  std::vector<std::uint8_t> patch;  // what is to be written there: a jump to the hook
  std::vector<std::uint8_t> hook;   // to be at `to`: the slot's words, and the code
  std::uint64_t slot = 0;  // of two words: the function to which calls are led, the code that calls
                           // it (common/entry_hooks.h)
  std::uint64_t moved = 0;  // the function as it was
};

// `to`, a multiple of 16, is where the hook will be. Fails, with the reason in words, if the
// function cannot be moved so that it does the same.
[[nodiscard]] tl::expected<MovedEntry, const char*> MoveEntry(const FunctionCode& function,
                                                              std::uint64_t to);

// How far from a function its hook may be, in bytes.
[[nodiscard]] std::uint64_t FarthestHook();

}  // namespace leakgate
