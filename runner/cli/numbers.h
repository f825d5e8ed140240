// Numbers on the command line. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runner/base/expected.h"

namespace leakgate {

// --stack-depth: a usage error unless it is a number of frames that can be recorded.
[[nodiscard]] Expected<std::uint32_t> ParseStackDepth(const std::string& text);

// A PID: a usage error unless it is a number above 0.
[[nodiscard]] Expected<int> ParsePid(const std::string& text);

// A usage error, which names `option`, unless it is a number above 0.
[[nodiscard]] Expected<std::uint64_t> ParseCount(const std::string& option,
                                                 const std::string& text);

// "500ms", "5s", "2min", "1h"; a bare number is of seconds. Likewise.
[[nodiscard]] Expected<std::chrono::milliseconds> ParseDuration(const std::string& option,
                                                                const std::string& text);

}  // namespace leakgate
