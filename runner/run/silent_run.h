// Has a GoogleTest binary write its list of tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

// The program may write anything, without an end.
inline constexpr std::size_t kMostListBytes = 256 << 20;

// Runs the program with the arguments, and with the flags by which it lists its tests as JSON: to
// its end, but for a minute at most, without input and output, and untraced. Returns what it has
// written; empty if that is too long.
[[nodiscard]] std::string ListTestsAsJson(const std::filesystem::path& program,
                                          const std::vector<std::string>& arguments);

}  // namespace leakgate
