#include "runner/report/formats/source_excerpts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// The endings of source files, of all languages whose compilers write DWARF.
constexpr std::array<std::string_view, 47> kSourceEndings = {
    ".c",   ".C",   ".cc",  ".cp",  ".cpp",   ".CPP", ".cxx",  ".c++", ".h",   ".H",
    ".hh",  ".hp",  ".hpp", ".HPP", ".hxx",   ".h++", ".inl",  ".ipp", ".ixx", ".tpp",
    ".txx", ".tcc", ".inc", ".def", ".cppm",  ".ccm", ".cxxm", ".mpp", ".cu",  ".cuh",
    ".m",   ".mm",  ".s",   ".S",   ".asm",   ".y",   ".yy",   ".l",   ".ll",  ".rs",
    ".go",  ".d",   ".f",   ".f90", ".swift", ".zig", ".pyx"};

bool IsCalledLikeASource(const fs::path& name) {
  return std::find(kSourceEndings.begin(), kSourceEndings.end(), name.extension()) !=
         kSourceEndings.end();
}

// `root` has no links. If it is empty, everything is below it.
bool IsBelow(const std::string& name, const std::string& root) {
  if (root.empty() || root == "/") return true;
  if (!IsWindowsPath(name)) return name.starts_with(root + "/");
  std::string folded = FoldedPath(name);
  if (folded.starts_with("//?/")) folded.erase(0, 4);  // as the system spells it
  return folded.starts_with(FoldedPath(root) + "/");
}

std::optional<std::string> ReadBelow(const std::string& root, const std::string& file) {
  constexpr std::uint64_t kMostFileBytes = 4UL * 1024 * 1024;
  const auto opened = OpenRegularFileIf(PathOf(root) / PathOf(file), [&](const std::string& name) {
    return IsBelow(name, root) && IsCalledLikeASource(name);
  });
  if (!opened) return std::nullopt;
  auto text = ReadToEnd(*opened, kMostFileBytes);
  if (!text) return std::nullopt;
  return *std::move(text);
}

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

// Cuts a line, but not in the middle of a character.
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

// Returns what is to be shown around `lines`, in order. Spans that overlap become one.
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

std::optional<std::string> ReadSourceFile(const std::string& file) { return ReadBelow("", file); }

Expected<ReadSource> SourcesBelow(const fs::path& root) {
  std::error_code error;
  const fs::path canonical = fs::canonical(root, error);
  if (error || !fs::is_directory(canonical, error)) {
    return UsageError(
        fmt::format("--source-root {}: no such directory; correct the path", PathText(root)));
  }
  return ReadSource(
      [root = PathText(canonical)](const std::string& file) { return ReadBelow(root, file); });
}

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
