// Numbers, sizes and times as users write them on the command line. Each function returns nothing
// if not all of `text` is what it reads. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace leakgate {

template <typename Number>
[[nodiscard]] std::optional<Number> ReadNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Reads bytes: "64", "64B", "1.5K", "1.5KiB", and so on to G.
[[nodiscard]] std::optional<std::uint64_t> ReadSize(std::string_view text);

// Reads whole numbers of bytes exactly: "64", "64K", "64KiB", and so on to T.
[[nodiscard]] std::optional<std::uint64_t> ReadWholeSize(std::string_view text);

// Reads nanoseconds: "10us", "2.5s", "1h"; without a unit it is seconds.
[[nodiscard]] std::optional<std::uint64_t> ReadTimeNs(std::string_view text);

// Reads milliseconds, which may be less than 0: "500ms", "2min"; without a unit it is seconds.
// Knows no finer unit.
[[nodiscard]] std::optional<double> ReadTimeMs(std::string_view text);

}  // namespace leakgate
