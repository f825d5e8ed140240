#include "runner/report/formats/source_excerpts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLinesBefore = 4;
constexpr int kLinesAfter = 3;
constexpr std::size_t kLongestLine = 240;
constexpr std::size_t kMostQuotedBytes = 512UL * 1024;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// Not in the middle of a character.
std::string_view CutLine(std::string_view line) {
  if (line.size() <= kLongestLine) return line;
  std::size_t end = kLongestLine;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end);
}

struct Span {
  int first = 0;
  int last = 0;
};

// What is to be shown around `lines`, in order; overlapping spans are one.
std::vector<Span> SpansAround(const std::set<int>& lines) {
  std::vector<Span> spans;
  for (const int line : lines) {
    const Span span = {std::max(1, line - kLinesBefore), line + kLinesAfter};
    if (!spans.empty() && span.first <= spans.back().last + 1) {
      spans.back().last = span.last;
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

class Excerpts {
 public:
  void Add(const std::string& file, std::string_view text, const std::set<int>& wanted) {
    const std::vector<std::string_view> lines = LinesOf(text);
    for (const Span& span : SpansAround(wanted)) {
      AddSpan(file, lines, {span.first, std::min(span.last, static_cast<int>(lines.size()))});
    }
  }
  [[nodiscard]] bool IsFull() const { return bytes_ >= kMostQuotedBytes; }
  Json Take() { return std::move(excerpts_); }

 private:
  void AddSpan(const std::string& file, const std::vector<std::string_view>& lines, Span span) {
    if (span.first > span.last || IsFull()) return;
    Json excerpt = {file, span.first};
    for (int number = span.first; number <= span.last; ++number) {
      const std::string_view line = CutLine(lines[static_cast<std::size_t>(number - 1)]);
      bytes_ += line.size() + 4;
      excerpt.push_back(std::string(line));
    }
    bytes_ += file.size() + 16;
    excerpts_.push_back(std::move(excerpt));
  }

  Json excerpts_ = Json::array();
  std::size_t bytes_ = 0;
};

}  // namespace

void SourceExcerpts::Want(const std::string& file, int line, SourceRank rank) {
  if (file.empty() || line <= 0) return;
  (rank == SourceRank::kFirst ? first_ : then_)[file].insert(line);
}

Json SourceExcerpts::Read(const ReadSource& read) const {
  Excerpts excerpts;
  if (!read) return excerpts.Take();
  for (const Places* places : {&first_, &then_}) {
    for (const auto& [file, lines] : *places) {
      if (excerpts.IsFull()) return excerpts.Take();
      const std::optional<std::string> text = read(file);
      if (text) excerpts.Add(file, *text, lines);
    }
  }
  return excerpts.Take();
}

}  // namespace leakgate
