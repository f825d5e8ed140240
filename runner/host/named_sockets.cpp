#include "runner/host/named_sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace leakgate {

std::string NameOfRun(int run_pid) { return fmt::format("the run with PID {}", run_pid); }

Expected<void> CheckSessionName(const std::string& name) {
  constexpr std::size_t kLongestName = 64;
  constexpr std::string_view kOthers = "._-";
  const bool is_good = std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
  if (is_good && !name.empty() && name.size() <= kLongestName) return {};
  return UsageError(
      fmt::format("'{}': not a session's name; write letters, digits, '.', '_' and '-', {} at most",
                  name, kLongestName));
}

}  // namespace leakgate
