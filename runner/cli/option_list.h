// The words of an option that takes one of a few, each with what it stands for. They are
// declared once: the parser, its messages, help and shell completion take them from there.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/base/path_text.h"
#include "runner/base/word_table.h"

namespace leakgate {

template <typename Choice>
struct Choices {
  std::string value_word;  // stands for the value in help: "WHEN"
  std::string noun;        // names a choice in the message that there is no such one: "way"
  std::string usage;       // tells how to write them, with {} for their list: "--confirm={}"
  std::vector<std::pair<std::string_view, Choice>> all;
};

template <typename Choice>
[[nodiscard]] std::vector<std::string> WordsOf(const Choices<Choice>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, choice] : choices.all) words.emplace_back(word);
  return words;
}

// Returns all words of an enum for Choices::all.
template <HasWords Enum>
[[nodiscard]] std::vector<std::pair<std::string_view, Enum>> AllWordsOf() {
  std::vector<std::pair<std::string_view, Enum>> all;
  for (const Named<Enum>& named : WordTable<Enum>::kWords)
    all.emplace_back(named.word, named.value);
  return all;
}

// Returns "after, inline or off".
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

// An option of a command, or an argument that is no option: how it is written, and what may
// stand in the place of its value. The parser, help, manual pages and shell completion all
// work with these.

enum class ValueKind {
  kText,     // anything
  kChoice,   // one of its choices
  kFile,     // a path
  kReport,   // FORMAT=FILE: a choice, then a path
  kCommand,  // one of leakgate's own commands, or one of its choices
};

struct OptionValue {
  std::string word{};  // stands for the value in help: "FILE"; empty for a flag
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices{};
};

struct Option {
  std::vector<std::string> names;  // "-o", "--output"; an argument has one word
  OptionValue value;
  std::string description{};
  bool is_repeated = false;

  [[nodiscard]] bool IsArgument() const { return !names.front().starts_with('-'); }
};

// The pages of help show flags and options alike: names, value, description.
inline bool IsFlag(const Option& option) { return option.value.word.empty(); }

// The options that a command declares, each bound to the field of the command that its value
// is read into:
//
//   void Declare(SnapshotDiffCommand& command, OptionList& options) {
//     options.AddArgument("file", FileWord("FILE"), command.files);
//     options.Add("--top", TextWord("N"), command.top, ParseCount, "Show the N largest");
//     options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
//   }
//
// A field that is a std::vector or a std::set takes the option any number of times. Values are
// read in the order of the declarations, once the whole command line has been split into
// options. What they come to together is for each command's Complete to check.

// The program and its arguments behind the two dashes. It is empty if there are no dashes.
using ProgramLine = std::vector<std::string>;

[[nodiscard]] inline OptionValue TextWord(std::string word) { return {std::move(word)}; }
[[nodiscard]] inline OptionValue FileWord(std::string word) {
  return {std::move(word), ValueKind::kFile};
}

// Returns the text itself. Every function that reads a value has this signature; its usage errors
// name the option, and tell what to write instead.
[[nodiscard]] inline Expected<std::string> AsWritten(const std::string&, const std::string& text) {
  return text;
}

class OptionList {
 public:
  struct Bound {
    Option option;
    // Reads the value; the text of a flag is empty.
    std::function<Expected<void>(const std::string& text)> read;
  };

  // `names` is like "-o,--output". Messages use the first name with two dashes.
  template <typename Target, typename Parse>
  void Add(std::string_view names, OptionValue value, Target& target, Parse parse,
           std::string description) {
    Bound bound = SplitNames(names, std::move(value), std::move(description));
    bound.option.is_repeated = kTakesMany<Target>;
    bound.read = [&target, parse,
                  name = NameInMessages(bound.option)](const std::string& text) -> Expected<void> {
      LEAKGATE_TRY_ASSIGN(auto read, parse(name, text));
      Store(std::move(read), target);
      return {};
    };
    all_.push_back(std::move(bound));
  }
  template <typename Target>
  void Add(std::string_view names, OptionValue value, Target& target, std::string description) {
    Add(names, std::move(value), target, AsWritten, std::move(description));
  }

  // Adds an option that is given once at most; `read` stores its value.
  void AddOnce(std::string_view names, OptionValue value,
               std::function<Expected<void>(const std::string& text)> read,
               std::string description) {
    all_.push_back(SplitNames(names, std::move(value), std::move(description)));
    all_.back().read = std::move(read);
  }

  // Adds an option that may be given several times; `read` stores each value.
  void AddEach(std::string_view names, OptionValue value,
               std::function<Expected<void>(const std::string& text)> read,
               std::string description) {
    AddOnce(names, std::move(value), std::move(read), std::move(description));
    all_.back().option.is_repeated = true;
  }

  template <typename Target, typename Choice>
  void AddChoice(std::string_view names, const Choices<Choice>& choices, Target& target,
                 std::string description) {
    Add(
        names, {choices.value_word, ValueKind::kChoice, WordsOf(choices)}, target,
        [choices](const std::string& option, const std::string& text) {
          return ParseChoice(choices, option, text);
        },
        std::move(description));
  }

  // Adds a flag that sets `target` to `value`, or appends `value` to it.
  template <typename Target, typename Value>
  void AddFlag(std::string_view names, Target& target, Value value, std::string description) {
    Bound bound = SplitNames(names, {}, std::move(description));
    bound.read = [&target, value](const std::string&) -> Expected<void> {
      Store(value, target);
      return {};
    };
    all_.push_back(std::move(bound));
  }
  void AddFlag(std::string_view names, bool& target, std::string description) {
    AddFlag(names, target, true, std::move(description));
  }

  // Adds an argument that is recognized by its place.
  template <typename Target, typename Parse = decltype(&AsWritten)>
  void AddArgument(std::string_view name, OptionValue value, Target& target,
                   Parse parse = &AsWritten) {
    Add(name, std::move(value), target, parse, "");
  }

  [[nodiscard]] const std::vector<Bound>& all() const { return all_; }

 private:
  template <typename Target>
  struct Many : std::false_type {};
  template <typename Value>
  struct Many<std::vector<Value>> : std::true_type {};
  template <typename Value>
  struct Many<std::set<Value>> : std::true_type {};
  template <typename Target>
  static constexpr bool kTakesMany = Many<Target>::value;

  // A path, or a container of paths.
  template <typename Target>
  struct HoldsPaths : std::is_same<Target, std::filesystem::path> {};
  template <template <typename...> class Holder, typename... Rest>
  struct HoldsPaths<Holder<std::filesystem::path, Rest...>> : std::true_type {};

  template <typename Value, typename Target>
  static void Store(Value&& value, Target& target) {
    constexpr bool kIsText = std::is_same_v<std::decay_t<Value>, std::string>;
    if constexpr (kIsText && HoldsPaths<Target>::value) {
      Store(PathOf(value), target);
    } else if constexpr (kTakesMany<Target>) {
      target.insert(target.end(), typename Target::value_type(std::forward<Value>(value)));
    } else {
      target = std::forward<Value>(value);
    }
  }

  // Returns an option that has the names of "-o,--output", and does not read yet.
  static Bound SplitNames(std::string_view names, OptionValue value, std::string description) {
    Bound bound{{{}, std::move(value), std::move(description)}, {}};
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(',', at), names.size());
      bound.option.names.emplace_back(names.substr(at, end - at));
      at = end + 1;
    }
    return bound;
  }

  static std::string NameInMessages(const Option& option) {
    const auto found = std::find_if(option.names.begin(), option.names.end(),
                                    [](const std::string& name) { return name.starts_with("--"); });
    return found == option.names.end() ? option.names.front() : *found;
  }

  std::vector<Bound> all_;
};

}  // namespace leakgate
