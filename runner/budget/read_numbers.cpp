#include "runner/budget/read_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>

#include "runner/budget/size.h"

namespace leakgate {
namespace {

Limit LimitAt(const LocatedValue& value, std::int64_t number) {
  return {.value = number, .line = value.line, .column = value.column};
}

// REQUIRES: value.kind is kNumber.
Expected<Limit> ReadInteger(const LocatedValue& value, const JsonPlace& place) {
  const std::string& digits = value.text;
  if (digits.starts_with('-')) {
    return place.ErrorAt(value, fmt::format("{} is negative; write 0 or more", digits));
  }
  if (digits.find_first_not_of("0123456789") != std::string::npos) {
    return place.ErrorAt(value,
                         fmt::format("{} is not a whole number; write it in digits only", digits));
  }
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc{}) {
    return place.ErrorAt(value, fmt::format("{} is too large; write at most {}", digits,
                                            std::numeric_limits<std::int64_t>::max()));
  }
  return LimitAt(value, number);
}

Expected<Limit> ReadCount(const LocatedValue& value, const JsonPlace& place,
                          std::string_view counted) {
  if (value.kind == JsonKind::kNumber) return ReadInteger(value, place);
  return WrongType(value, place, fmt::format("a number of {}", counted), "2");
}

}  // namespace

Expected<Limit> ReadBytes(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind == JsonKind::kNumber) return ReadInteger(value, place);
  if (value.kind != JsonKind::kString) {
    return WrongType(value, place, "a size", R"(4096 or "64 KiB")");
  }
  const tl::expected<std::int64_t, std::string> bytes = ParseSize(value.text);
  if (!bytes) return place.ErrorAt(value, bytes.error());
  return LimitAt(value, *bytes);
}

Expected<Limit> ReadBlocks(const LocatedValue& value, const JsonPlace& place) {
  return ReadCount(value, place, "blocks");
}

Expected<Limit> ReadFileDescriptors(const LocatedValue& value, const JsonPlace& place) {
  return ReadCount(value, place, "file descriptors");
}

Expected<Limit> ReadThreads(const LocatedValue& value, const JsonPlace& place) {
  return ReadCount(value, place, "threads");
}

}  // namespace leakgate
