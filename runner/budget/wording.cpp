#include "runner/budget/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

namespace leakgate {
namespace {

// Returns how many letters must be inserted, deleted, replaced or swapped with the next one to turn
// one word into the other.
std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = last[j] + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      const bool is_swapped = i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
      if (is_swapped) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kDigits = "0123456789";

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array kUnits = {
    Unit{"B", 1},         Unit{"kB", 1'000},    Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000},
    Unit{"KiB", 1 << 10}, Unit{"MiB", 1 << 20}, Unit{"GiB", 1 << 30},
};

// The parts of a size: those of "1.5 MiB" are {"1", "5", "MiB"}.
struct SizeParts {
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

std::string_view TakeDigits(std::string_view& rest) {
  const std::string_view digits = rest.substr(0, rest.find_first_not_of(kDigits));
  rest.remove_prefix(digits.size());
  return digits;
}

// Returns nullopt if `text` does not begin with a number.
std::optional<SizeParts> SplitSize(std::string_view text) {
  SizeParts parts;
  parts.whole = TakeDigits(text);
  if (parts.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
    if (parts.fraction.empty()) return std::nullopt;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  parts.unit = text;
  return parts;
}

// Returns how many bytes the fraction of a unit is, or nullopt if that is not a whole number. The
// result is exact for any number of digits: from the last digit to the first, each division by ten
// must leave no remainder.
std::optional<std::int64_t> FractionBytes(std::string_view fraction, std::int64_t unit_bytes) {
  std::int64_t bytes = 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    bytes += (*digit - '0') * unit_bytes;
    if (bytes % 10 != 0) return std::nullopt;
    bytes /= 10;
  }
  return bytes;
}

// Returns whole * unit_bytes + fraction_bytes, or nullopt if that is too large.
std::optional<std::int64_t> Total(std::string_view whole, std::int64_t unit_bytes,
                                  std::int64_t fraction_bytes) {
  std::int64_t units = 0;
  const auto parsed = std::from_chars(whole.data(), whole.data() + whole.size(), units);
  if (parsed.ec != std::errc{}) return std::nullopt;
  if (units > (kLargest - fraction_bytes) / unit_bytes) return std::nullopt;
  return units * unit_bytes + fraction_bytes;
}

tl::expected<std::int64_t, std::string> ToBytes(const SizeParts& parts, std::int64_t unit_bytes,
                                                std::string_view text) {
  const std::optional<std::int64_t> fraction = FractionBytes(parts.fraction, unit_bytes);
  if (!fraction) {
    return tl::unexpected(fmt::format(
        "{} is not a whole number of bytes; round it to one, or use a smaller unit", Quoted(text)));
  }
  const std::optional<std::int64_t> bytes = Total(parts.whole, unit_bytes, *fraction);
  if (!bytes) {
    return tl::unexpected(
        fmt::format("{} is too large; write at most {} bytes", Quoted(text), kLargest));
  }
  return *bytes;
}

// Returns whether one of `globs`, which ':' separates, matches `name`. An empty glob only matches
// an empty name.
bool MatchesAnyGlob(std::string_view globs, std::string_view name) {
  while (true) {
    const std::size_t colon = globs.find(':');
    if (MatchesGlob(globs.substr(0, colon), name)) return true;
    if (colon == std::string_view::npos) return false;
    globs.remove_prefix(colon + 1);
  }
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json(text).dump(-1, ' ', false, kReplace);
}

std::string QuotedList(const std::vector<std::string_view>& words, std::string_view conjunction) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && i + 1 < words.size()) list += ", ";
    if (i > 0 && i + 1 == words.size()) list.append(" ").append(conjunction).append(" ");
    list += Quoted(words[i]);
  }
  return list;
}

std::optional<std::string_view> FindNearestWord(std::string_view typed,
                                                const std::vector<std::string_view>& words) {
  constexpr std::size_t kMostEdits = 2;
  std::optional<std::string_view> nearest;
  std::size_t fewest_edits = std::min(kMostEdits + 1, (typed.size() + 1) / 2);
  for (const std::string_view word : words) {
    if (word.size() > typed.size() + kMostEdits) continue;
    if (typed.size() > word.size() + kMostEdits) continue;
    const std::size_t edits = EditDistance(typed, word);
    if (edits >= fewest_edits) continue;
    nearest = word;
    fewest_edits = edits;
  }
  return nearest;
}

tl::expected<std::int64_t, std::string> ParseSize(std::string_view text) {
  if (text.starts_with('-')) {
    return tl::unexpected(fmt::format("{} is negative; write 0 or more", Quoted(text)));
  }
  const std::optional<SizeParts> parts = SplitSize(text);
  if (!parts) {
    return tl::unexpected(fmt::format(
        "{} is not a size; write a number of bytes or a string such as \"64 KiB\"", Quoted(text)));
  }
  if (parts->unit.empty()) {
    return tl::unexpected(fmt::format("{} has no unit; write it without the quotes, or add one: {}",
                                      Quoted(text), Quoted(fmt::format("{} B", text))));
  }
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& known) { return known.name == parts->unit; });
  if (unit == kUnits.end()) {
    return tl::unexpected(
        fmt::format("{} has the unknown unit {}; use B, kB, MB, GB, KiB, MiB or GiB", Quoted(text),
                    Quoted(parts->unit)));
  }
  return ToBytes(*parts, unit->bytes, text);
}

bool MatchesGlob(std::string_view glob, std::string_view name) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0;
  std::size_t star = kNone;  // the position of the last '*' so far in `glob`
  std::size_t star_end = 0;  // the end of the text in `name` that this '*' stands for
  for (std::size_t i = 0; i < name.size();) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_end = i;
    } else if (at < glob.size() && (glob[at] == '?' || glob[at] == name[i])) {
      ++at;
      ++i;
    } else if (star != kNone) {
      at = star + 1;
      i = ++star_end;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', at) == kNone;
}

bool MatchesFilter(const std::string& filter, const std::string& name) {
  const std::string_view text = filter;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return MatchesAnyGlob(text, name);

  const std::string_view positive = text.substr(0, dash);
  if (!positive.empty() && !MatchesAnyGlob(positive, name)) return false;
  return !MatchesAnyGlob(text.substr(dash + 1), name);
}

bool MatchesAnyFilter(const std::vector<std::string>& filters, const std::string& name) {
  return std::any_of(filters.begin(), filters.end(),
                     [&name](const std::string& filter) { return MatchesFilter(filter, name); });
}

}  // namespace leakgate
