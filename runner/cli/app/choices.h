// The words of an option that takes one of a few, each with what it stands for. They are
// declared once: the parser, its messages, help and shell completion take them from there.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

template <typename Choice>
struct Choices {
  std::string value_word;  // what stands for all of them in help: "WHEN"
  std::string noun;        // what there is no other of: "way"
  std::string usage;       // how to write them, with {} for their list: "--confirm={}"
  std::vector<std::pair<std::string_view, Choice>> all;
};

template <typename Choice>
[[nodiscard]] std::vector<std::string> WordsOf(const Choices<Choice>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, choice] : choices.all) words.emplace_back(word);
  return words;
}

// "after, inline or off".
[[nodiscard]] inline std::string OneOf(const std::vector<std::string>& words,
                                       std::string_view last_link = " or ") {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    text += fmt::format("{}{}", i == 0 ? "" : is_last ? last_link : ", ", words[i]);
  }
  return text;
}

template <typename Choice>
[[nodiscard]] Expected<Choice> ParseChoice(const Choices<Choice>& choices,
                                           const std::string& option, const std::string& text) {
  for (const auto& [word, choice] : choices.all) {
    if (word == text) return choice;
  }
  return UsageError(fmt::format("{} '{}': no such {}; write {}", option, text, choices.noun,
                                fmt::format(fmt::runtime(choices.usage), OneOf(WordsOf(choices)))));
}

}  // namespace leakgate
