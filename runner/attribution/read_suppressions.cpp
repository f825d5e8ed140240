#include "runner/attribution/read_suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace leakgate {
namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kMostSuppressions = 10'000;
constexpr std::string_view kLeakPrefix = "leak:";
constexpr std::string_view kKindsPrefix = "match-leak-kinds:";

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));
  return text;
}

// Removes and returns what is in front of the next `separator`, without blanks around it.
std::string_view TakeUpTo(char separator, std::string_view& rest) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = WithoutBlanks(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Reads the lines that are neither empty nor comments.
class SuppressionLines {
 public:
  SuppressionLines(std::string file, std::string_view text) : file_(std::move(file)), rest_(text) {}

  // Moves to the next line, and returns false behind the last one.
  bool Next() {
    while (!rest_.empty()) {
      ++number_;
      line_ = TakeUpTo('\n', rest_);
      if (!line_.empty() && !line_.starts_with('#')) return true;
    }
    line_ = {};
    return false;
  }

  std::string_view line() const { return line_; }
  [[nodiscard]] std::string Place() const { return fmt::format("{}:{}", file_, number_); }
  [[nodiscard]] bool IsTooLong() const { return line_.size() > kLongestLine; }

 private:
  const std::string file_;
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

Unexpected BadLine(const SuppressionLines& lines, std::string_view what) {
  return UsageError(fmt::format("{}: {}", lines.Place(), what));
}

Expected<Suppression> ReadLeakSanitizers(const SuppressionLines& lines) {
  const std::string_view line = lines.line();
  if (line.starts_with(kLeakPrefix)) {
    return Suppression{.place = lines.Place(),
                       .name = std::string(line),
                       .leak_pattern = std::string(line.substr(kLeakPrefix.size()))};
  }
  std::string_view rest = line;
  const std::string_view type = TakeUpTo(':', rest);
  const bool is_word = type.size() < line.size() && !type.empty() &&
                       type.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-") == type.npos;
  if (!is_word) {
    return BadLine(lines, "not a suppression of LeakSanitizer's; write leak:PATTERN");
  }
  return Suppression{.place = lines.Place(),
                     .name = std::string(line),
                     .why_not = fmt::format("'{}' is of another sanitizer's", type)};
}

Expected<void> ReadKinds(const SuppressionLines& lines, Suppression& suppression) {
  constexpr std::array<std::string_view, 6> kKinds = {"definite",  "indirect", "possible",
                                                      "reachable", "all",      "none"};
  std::string_view rest = lines.line().substr(kKindsPrefix.size());
  do {
    const std::string_view kind = TakeUpTo(',', rest);
    if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
      return BadLine(lines,
                     "no kind of leak of valgrind's; write definite, indirect, possible, "
                     "reachable, all or none");
    }
    suppression.kinds.emplace(kind);
  } while (!rest.empty());
  if (suppression.kinds.contains("all")) suppression.kinds.clear();
  return {};
}

Expected<void> ReadFrame(const SuppressionLines& lines, Suppression& suppression) {
  const std::string_view line = lines.line();
  const bool is_frame = line == "..." || line.starts_with("fun:") || line.starts_with("obj:") ||
                        line.starts_with("src:");
  if (!is_frame) return BadLine(lines, "not a frame of valgrind's; write fun:, obj:, src: or ...");
  suppression.frames.emplace_back(line);
  return {};
}

// Returns why a line such as "Memcheck:Leak" is not about leaks; empty if it is.
std::string WhyNotLeak(std::string_view line) {
  std::string_view kind = line;
  std::string_view tools = TakeUpTo(':', kind);
  bool is_memcheck = false;
  while (!tools.empty()) is_memcheck |= TakeUpTo(',', tools) == "Memcheck";
  return is_memcheck && kind == "Leak" ? "" : fmt::format("{} is not about leaks", line);
}

// Reads to the line with the brace that ends it. REQUIRES: the line is the one that begins it.
Expected<Suppression> ReadValgrinds(SuppressionLines& lines) {
  if (lines.line() != "{")
    return BadLine(lines, "not a suppression of valgrind's; begin it with {");
  Suppression suppression{.place = lines.Place(), .name = ""};
  for (int index = 0; lines.Next(); ++index) {
    if (lines.IsTooLong()) break;
    const std::string_view line = lines.line();
    const bool is_end = line == "}";
    if (is_end && (!suppression.why_not.empty() || !suppression.frames.empty())) {
      return suppression;
    }
    if (is_end) return BadLine(lines, "the suppression has no frame; add one such as fun:malloc");
    if (line == "{") break;
    if (index == 0) {
      suppression.name = line;
    } else if (index == 1) {
      suppression.why_not = WhyNotLeak(line);
    } else if (!suppression.why_not.empty()) {
      continue;
    } else if (line.starts_with(kKindsPrefix)) {
      LEAKGATE_TRY(ReadKinds(lines, suppression));
    } else {
      LEAKGATE_TRY(ReadFrame(lines, suppression));
    }
  }
  return UsageError(
      fmt::format("{}: the suppression has no end; close it with }}", suppression.place));
}

}  // namespace

Expected<std::vector<Suppression>> ParseSuppressions(const std::string& file,
                                                     std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  SuppressionLines lines(file, text);
  std::vector<Suppression> suppressions;
  std::optional<bool> is_valgrinds;
  while (lines.Next()) {
    if (lines.IsTooLong()) {
      return BadLine(lines, fmt::format("longer than {} bytes; is it a text?", kLongestLine));
    }
    if (!is_valgrinds) is_valgrinds = lines.line() == "{";
    LEAKGATE_TRY_ASSIGN(Suppression suppression,
                        *is_valgrinds ? ReadValgrinds(lines) : ReadLeakSanitizers(lines));
    if (suppressions.size() == kMostSuppressions) {
      return BadLine(lines, fmt::format("more than {} suppressions; split the file and adopt a "
                                        "part of the tests with each",
                                        kMostSuppressions));
    }
    suppressions.push_back(std::move(suppression));
  }
  if (suppressions.empty()) {
    return UsageError(fmt::format(
        "{}: no suppressions; LeakSanitizer's have lines such as leak:PATTERN, and valgrind's {{ "
        "and }}; leave the file out if it is to be empty",
        file));
  }
  return suppressions;
}

}  // namespace leakgate
