#include "runner/cli/value_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/report/report_file.h"

namespace leakgate {
namespace {

const std::vector<ValueWord>& KnownWords() {
  static const std::vector<ValueWord> words = {
      {"WHEN", ValueKind::kChoice, {"after", "inline", "off"}},
      {"HOW", ValueKind::kChoice, {"auto", "bar", "lines", "none"}},
      {"WHAT",
       ValueKind::kChoice,
       {"site", "stack", "module", "component", "thread", "window", "age", "kind", "size",
        "freed-by"}},
      {"WHICH", ValueKind::kChoice, {"over_budget", "every"}},
      {"FORMAT", ValueKind::kChoice, {"folded", "pprof", "speedscope", "heaptrack", "json"}},
      {"VIEW", ValueKind::kChoice, {"table", "tree"}},
      {"SETTING", ValueKind::kChoice, {"enable", "disable", "query"}},
      {"SHELL", ValueKind::kChoice, {"bash", "zsh", "fish"}},
      {"FORMAT=FILE", ValueKind::kReport, FormatNames()},
      {"FILE", ValueKind::kFile},
      {"FILE|DIR", ValueKind::kFile},
      {"DIR", ValueKind::kFile},
      {"REPORT", ValueKind::kFile},
      {"RESULT", ValueKind::kFile},
      {"DB", ValueKind::kFile},
      {"BINARY", ValueKind::kFile},
      {"COMMAND", ValueKind::kCommand},
  };
  return words;
}

}  // namespace

ValueWord MeaningOf(std::string_view word) {
  const auto known = std::find_if(KnownWords().begin(), KnownWords().end(),
                                  [&](const ValueWord& it) { return it.word == word; });
  return known == KnownWords().end() ? ValueWord{std::string(word)} : *known;
}

std::string OneOf(const std::vector<std::string>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool is_last = i + 1 == choices.size();
    text += fmt::format("{}{}", i == 0 ? "" : is_last ? " or " : ", ", choices[i]);
  }
  return text;
}

}  // namespace leakgate
