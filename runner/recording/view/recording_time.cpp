#include "runner/recording/view/recording_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <set>

#include "runner/budget/wording.h"
#include "runner/region/amount.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

using Kind = RecordingTime::Kind;

std::optional<std::uint64_t> ReadTime(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr std::array kUnits = {Unit{"ns", 1},     Unit{"us", 1e3},   Unit{"ms", 1e6},
                                 Unit{"min", 60e9}, Unit{"h", 3600e9}, Unit{"s", 1e9},
                                 Unit{"", 1e9}};
  constexpr double kMostNs = 1e18;
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& each) { return text.ends_with(each.name); });
  text.remove_suffix(unit->name.size());
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && rest == text.data() + text.size();
  // A NaN is in no range.
  if (!is_number || !(number >= 0 && number * unit->ns <= kMostNs)) return std::nullopt;
  return static_cast<std::uint64_t>(number * unit->ns);
}

// Splits "loaded#3".
void ReadName(std::string_view text, RecordingTime& time) {
  time.name = text;
  time.stem = text;
  const std::size_t hash = text.rfind('#');
  if (hash == std::string_view::npos || hash == 0) return;
  const char* const end = text.data() + text.size();
  std::uint64_t which = 0;
  const auto [rest, error] = std::from_chars(text.data() + hash + 1, end, which);
  if (error != std::errc() || rest != end || which == 0) return;
  time.which = which;
  time.stem = text.substr(0, text[hash - 1] == ' ' ? hash - 1 : hash);
}

struct Prefix {
  std::string_view word;
  Kind kind;
  const char* noun;
};
constexpr std::array kPrefixes = {Prefix{"mark:", Kind::kMark, "mark"},
                                  Prefix{"test:", Kind::kTest, "test"},
                                  Prefix{"suite:", Kind::kSuite, "suite"}};

const char* NounOf(Kind kind) {
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.kind == kind) return prefix.noun;
  }
  return "moment";
}

}  // namespace

Expected<RecordingTime> ParseRecordingTime(const std::string& option, const std::string& text) {
  RecordingTime time;
  time.text = text;
  if (text == "begin") return time;
  if (text == "end" || (text == "peak" && option == "--at")) {
    time.kind = text == "end" ? Kind::kEnd : Kind::kPeak;
    return time;
  }
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.word) || text.size() == prefix.word.size()) continue;
    time.kind = prefix.kind;
    ReadName(std::string_view(text).substr(prefix.word.size()), time);
    return time;
  }
  if (const std::optional<std::uint64_t> ns = ReadTime(text)) {
    time.time_ns = *ns;
    return time;
  }
  const char* const last = option == "--at" ? "begin, end or peak" : "begin or end";
  return UsageError(
      fmt::format("{} '{}': no moment of a recording; write a time since its begin (2.5s, 300ms), "
                  "mark:NAME, test:SUITE.NAME, suite:NAME, {}",
                  option, Printable(text), last));
}

bool MomentFinder::IsWindow(const RecordingTime& time, std::uint32_t id) const {
  const auto found = contents_.windows.find(id);
  if (found == contents_.windows.end()) return false;
  const SnapshotWindow& window = found->second;
  const WindowKind kind = time.kind == Kind::kTest ? WindowKind::kTest : WindowKind::kSuite;
  if (window.kind != kind) return false;
  if (window.name == time.name) return true;
  return time.which != 0 && window.name == time.stem && window.iteration == time.which;
}

IntervalBound MomentFinder::BoundOf(const RecordingTime& time, Side side) const {
  switch (time.kind) {
    case Kind::kTime:
    case Kind::kPeak:
      return {.time_ns = time.time_ns};
    case Kind::kEnd:
      return {};
    case Kind::kMark: {
      // How often the mark has been set so far.
      const auto seen = std::make_shared<std::uint64_t>(0);
      return {.is_at = [this, time, seen](const RecordedEvent& event) {
        if (event.kind != RecordedKind::kMark || event.mark >= marks_.size()) return false;
        if (marks_[event.mark] == time.name) return true;
        return time.which != 0 && marks_[event.mark] == time.stem && ++*seen == time.which;
      }};
    }
    case Kind::kTest:
    case Kind::kSuite: {
      const RecordedKind wanted =
          side == Side::kBegin ? RecordedKind::kWindowBegins : RecordedKind::kWindowEnds;
      return {.is_at = [this, time, wanted](const RecordedEvent& event) {
        return event.kind == wanted && IsWindow(time, event.window);
      }};
    }
  }
  return {};
}

std::vector<std::string> MomentFinder::NamesFor(Kind kind) const {
  std::set<std::string> names;
  if (kind == Kind::kMark) names.insert(marks_.begin(), marks_.end());
  const WindowKind wanted = kind == Kind::kTest ? WindowKind::kTest : WindowKind::kSuite;
  for (const auto& [id, window] : contents_.windows) {
    if (kind != Kind::kMark && window.kind == wanted) names.insert(window.name);
  }
  return {names.begin(), names.end()};
}

Expected<void> MomentFinder::Check(const std::string& option, const RecordingTime& time,
                                   std::uint64_t length_ns) const {
  const std::string what = fmt::format("{} {}", option, Printable(time.text));
  if (time.kind == Kind::kTime && time.time_ns > length_ns) {
    return UsageError(fmt::format("{}: {} is {} long; name an earlier moment", what, contents_.file,
                                  FormatDuration(std::chrono::nanoseconds(length_ns))));
  }
  if (time.name.empty()) return {};
  const std::vector<std::string> names = NamesFor(time.kind);
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(time.name)) return {};
  if (time.which != 0 && has(time.stem)) {
    return UsageError(fmt::format("{}: {} has the {} '{}', but not so often; name an earlier one",
                                  what, contents_.file, NounOf(time.kind), Printable(time.stem)));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::optional<std::string_view> nearest = FindNearestWord(time.stem, known);
  std::string hint = names.empty() ? "it has none" : "";
  if (nearest) {
    hint = fmt::format("did you mean {}:{}?", NounOf(time.kind), Printable(*nearest));
  } else if (!names.empty()) {
    constexpr std::size_t kMostShown = 5;
    const std::size_t shown = std::min(kMostShown, names.size());
    std::vector<std::string> some(names.begin(),
                                  names.begin() + static_cast<std::ptrdiff_t>(shown));
    hint = fmt::format("it has {}{}", Printable(fmt::format("{}", fmt::join(some, ", "))),
                       names.size() > shown ? ", ..." : "");
  }
  return UsageError(
      fmt::format("{}: no such {} in {}; {}", what, NounOf(time.kind), contents_.file, hint));
}

}  // namespace leakgate
