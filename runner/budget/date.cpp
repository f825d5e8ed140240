#include "runner/budget/date.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace leakgate {
namespace {

constexpr std::string_view kShape = "0000-00-00";  // 0 stands for a digit

bool HasShape(std::string_view text) {
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(), [](char c, char shape) {
    return shape == '0' ? c >= '0' && c <= '9' : c == shape;
  });
}

// REQUIRES: `digits` are digits.
unsigned Number(std::string_view digits) {
  unsigned number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

std::optional<std::chrono::year_month_day> ParseDate(std::string_view text) {
  if (!HasShape(text)) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(Number(text.substr(0, 4)))),
      std::chrono::month(Number(text.substr(5, 2))), std::chrono::day(Number(text.substr(8, 2)))};
  if (!date.ok()) return std::nullopt;
  return date;
}

std::string DateText(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::chrono::year_month_day Today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

}  // namespace leakgate
