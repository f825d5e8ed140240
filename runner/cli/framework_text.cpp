#include "runner/cli/framework_text.h"

#include <fmt/format.h>

#include "runner/attribution/framework_rules.h"

namespace leakgate {

std::string FrameworkRulesText() {
  std::string text = fmt::format(
      "What is counted as the framework's own, apart from outstanding (list version {}):\n",
      kFrameworkRulesVersion);
  std::string_view name;
  for (const FrameworkRule& rule : FrameworkRules()) {
    if (rule.name != name) text += fmt::format("\n{}: {}\n", rule.name, rule.why);
    name = rule.name;
    text += rule.function.empty() ? fmt::format("  {}\n", Describe(rule.match))
                                  : fmt::format("  {} ({})\n", rule.function, Describe(rule.match));
  }
  return text;
}

}  // namespace leakgate
