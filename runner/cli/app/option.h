// An option of a command, or an argument that is no option: how it is written, and what may
// stand in the place of its value. The parser, help, manual pages and shell completion all
// work with these.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

enum class ValueKind {
  kText,     // anything
  kChoice,   // one of its choices
  kFile,     // a path
  kReport,   // FORMAT=FILE: a choice, then a path
  kCommand,  // one of leakgate's own commands
};

struct OptionValue {
  std::string word{};  // what stands for it in help: "FILE"; of a flag empty
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices{};
};

struct Option {
  std::vector<std::string> names;  // "-o", "--output"; of an argument a word of its own
  OptionValue value;
  std::string description{};
  bool is_repeated = false;

  [[nodiscard]] bool IsArgument() const { return !names.front().starts_with('-'); }
};

// The pages of help show flags and options alike: names, value, description.
inline bool IsFlag(const Option& option) { return option.value.word.empty(); }

}  // namespace leakgate
