#include "runner/symbols/named_functions.h"

namespace leakgate {

bool FindsNamedFunctions() { return false; }

std::vector<std::vector<FoundFunction>> FindNamedFunctions(
    const std::filesystem::path& /*executable*/, const std::vector<std::string>& names,
    MatchesName /*matches*/) {
  return std::vector<std::vector<FoundFunction>>(names.size());
}

}  // namespace leakgate
