#include "runner/budget/codeowners.h"

#include <algorithm>
#include <sstream>
#include <system_error>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Returns whether a whole path matches: '*' and '?' stand for no slash, "**" for any text, and
// "**/" for any number of folders, including none. A table is filled from the ends, so that no
// pattern takes long.
bool MatchesPath(std::string_view glob, std::string_view path) {
  const std::size_t columns = path.size() + 1;
  std::vector<bool> table((glob.size() + 1) * columns);  // whether glob from i matches path from j
  const auto at = [&](std::size_t i, std::size_t j) { return table[i * columns + j]; };
  for (std::size_t i = glob.size() + 1; i-- > 0;) {
    const std::string_view rest = glob.substr(i);
    for (std::size_t j = columns; j-- > 0;) {
      const bool has_letter = j < path.size();
      bool matches = rest.empty() && !has_letter;
      if (rest.starts_with("**/")) {
        const std::size_t slash = path.find('/', j);
        matches = at(i + 3, j) || (slash != std::string_view::npos && at(i, slash + 1));
      } else if (rest.starts_with("**")) {
        matches = at(i + 2, j) || (has_letter && at(i, j + 1));
      } else if (rest.starts_with('*')) {
        matches = at(i + 1, j) || (has_letter && path[j] != '/' && at(i, j + 1));
      } else if (has_letter && rest.starts_with('?')) {
        matches = path[j] != '/' && at(i + 1, j + 1);
      } else if (has_letter && !rest.empty()) {
        matches = rest.front() == path[j] && at(i + 1, j + 1);
      }
      table[i * columns + j] = matches;
    }
  }
  return at(0, 0);
}

// Splits at blanks that no backslash is in front of.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  bool is_in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_blank = line[i] == ' ' || line[i] == '\t' || line[i] == '\r';
    if (is_blank) {
      is_in_word = false;
      continue;
    }
    if (line[i] == '#' && !is_in_word) break;
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    const bool escapes_blank = line[i] == '\\' && i + 1 < line.size() && line[i + 1] == ' ';
    words.back() += escapes_blank ? ' ' : line[i];
    i += escapes_blank;
  }
  return words;
}

}  // namespace

Codeowners Codeowners::Parse(std::string_view text) {
  constexpr std::size_t kLongestPattern = 1024;
  Codeowners codeowners;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = WordsOf(line);
    const bool is_section = !words.empty() && (words[0][0] == '[' || words[0][0] == '^');
    if (words.empty() || is_section || words[0].size() > kLongestPattern) continue;
    std::string pattern = std::move(words[0]);
    Rule rule;
    rule.is_of_folders = pattern.ends_with('/');
    if (rule.is_of_folders) pattern.pop_back();
    rule.is_anchored = pattern.find('/') != std::string::npos;
    if (pattern.starts_with('/')) pattern.erase(0, 1);
    rule.pattern = std::move(pattern);
    for (std::size_t i = 1; i < words.size(); ++i) rule.owners += (i == 1 ? "" : " ") + words[i];
    codeowners.rules_.push_back(std::move(rule));
  }
  return codeowners;
}

std::optional<FolderOwner> Codeowners::OwnerOf(const fs::path& file) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    fs::path place;  // the folders around the file, from the outermost, and then the file
    for (const fs::path& part : file) {
      place /= part;
      const bool is_file = place == file;
      if (is_file && rule->is_of_folders) continue;
      const std::string name = PathText(rule->is_anchored ? place : part);
      if (!MatchesPath(rule->pattern, name)) continue;
      if (rule->owners.empty()) return std::nullopt;
      // "/src/net/*.cc" and "/src/net/**" name the folder, "*.cc" names none.
      const bool names_what_is_in_it = is_file || rule->pattern.ends_with('*');
      if (!names_what_is_in_it) return FolderOwner{place, rule->owners};
      return FolderOwner{rule->is_anchored ? place.parent_path() : fs::path(), rule->owners};
    }
  }
  return std::nullopt;
}

std::optional<FoundCodeowners> FindCodeowners(const fs::path& directory) {
  constexpr std::uint64_t kMostBytes = 3 << 20;  // the limit of GitHub
  std::error_code error;
  fs::path root = fs::canonical(directory, error);
  while (!error) {
    for (const char* const place : {".github", "", "docs", ".gitlab"}) {
      const auto text = ReadRegularFile(root / place / "CODEOWNERS", kMostBytes);
      if (text) return FoundCodeowners{root, Codeowners::Parse(*text)};
    }
    const bool is_repository = fs::exists(fs::symlink_status(root / ".git", error));
    if (is_repository || !root.has_relative_path()) break;
    root = root.parent_path();
    error.clear();
  }
  return std::nullopt;
}

}  // namespace leakgate
