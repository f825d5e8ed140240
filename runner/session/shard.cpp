#include "runner/session/shard.h"

#include <charconv>
#include <string_view>

namespace leakgate {
namespace {

std::optional<int> NumberOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (!variable.starts_with(name)) continue;
    int number = 0;
    const char* const end = variable.data() + variable.size();
    const auto [rest, error] = std::from_chars(variable.data() + name.size(), end, number);
    if (error == std::errc() && rest == end) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Shard> ShardOf(const std::vector<std::string>& environment) {
  const std::optional<int> total = NumberOf(environment, "GTEST_TOTAL_SHARDS=");
  const std::optional<int> index = NumberOf(environment, "GTEST_SHARD_INDEX=");
  if (!total || !index || *index < 0 || *index >= *total) return std::nullopt;
  return Shard{*index, *total};
}

}  // namespace leakgate
