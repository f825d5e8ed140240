#include "runner/cli/completion.h"

#include <fmt/format.h>

namespace leakgate {

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string FirstSentence(const std::string& description) {
  return description.substr(0, description.find(". "));
}

std::string Spaced(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> CommandWords(const CommandPage& page) {
  std::vector<std::string> words;
  for (const std::string& name : page.commands) words.push_back(LastWord(name));
  return words;
}

}  // namespace leakgate
