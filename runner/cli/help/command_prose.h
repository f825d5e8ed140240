// What help and manual pages tell about each command, besides its options.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// An exit code, a mark, a file or the like, with its meaning.
struct Term {
  std::string term;
  std::string meaning;
};

struct Example {
  std::string says;  // "Only new leaks fail"
  std::string command;
};

// Each text is one paragraph in one line. What does not apply to a command is empty.
struct CommandProse {
  std::string name{};     // "budget check"; empty for leakgate itself
  std::string summary{};  // one line, without a full stop
  std::vector<std::string> usages{};
  std::vector<std::string> description{};
  std::vector<std::string> notes{};  // what stands in the usage, explained
  std::string terms_lead{};
  std::vector<Term> terms{};
  std::string exit_lead{};  // before the codes; empty: none
  std::vector<Term> exit_codes{};
  std::vector<Term> environment{};  // of manual pages only, as are the files
  std::vector<Term> files{};
  std::vector<Example> examples{};
};

// Returns the prose of all commands in the order in which it is shown, leakgate itself first.
[[nodiscard]] const std::vector<CommandProse>& AllProse();

}  // namespace leakgate
