// What help and manual pages say of each command, besides its options.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// Something, and what it means: an exit code, a mark, a file.
struct Term {
  std::string term;
  std::string meaning;
};

struct Example {
  std::string says;  // "Only new leaks fail"
  std::string command;
};

// One paragraph is one line; empty where there is nothing to say.
struct CommandProse {
  std::string name{};     // "budget check"; of leakgate itself empty
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

// In the order in which they are to be shown; leakgate itself first.
[[nodiscard]] const std::vector<CommandProse>& AllProse();

}  // namespace leakgate
