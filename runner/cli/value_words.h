// The words that stand for options' values in help, and what may stand in their place:
// what the parser takes and what shells offer come from here. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

enum class ValueKind {
  kText,     // anything
  kChoice,   // one of the word's choices
  kFile,     // a path
  kReport,   // FORMAT=FILE: a choice, then a path
  kCommand,  // leakgate's own commands
};

struct ValueWord {
  std::string word;
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices{};
};

// Of kind kText where the word is not known to be anything else.
[[nodiscard]] ValueWord MeaningOf(std::string_view word);

// "after, inline or off".
[[nodiscard]] std::string OneOf(const std::vector<std::string>& choices);

}  // namespace leakgate
