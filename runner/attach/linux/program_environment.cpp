#include "runner/attach/program_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/control_protocol.h"

namespace leakgate {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";

bool Sets(const std::string& variable, std::string_view prefix) {
  return variable.starts_with(prefix);
}

// The variable that was removed from this process's environment, and its place among the others.
struct HiddenVariable {
  std::string text;
  std::size_t at = 0;
};
std::optional<HiddenVariable> hidden_variable;

}  // namespace

Expected<std::vector<std::string>> ProgramEnvironment(const std::vector<std::string>& inherited,
                                                      const TracingVariables& tracing) {
  const std::string agent = tracing.agent.string();
  if (agent.find_first_of(" :\t\n") != std::string::npos) {
    return InconclusiveError(fmt::format(
        "{}: the dynamic linker cannot preload a path with a space or a colon in it; install "
        "leakgate elsewhere",
        agent));
  }
  const std::string control = fmt::format("{}=", kControlVariable);
  std::string preload = fmt::format("{}{}", kPreload, agent);
  std::vector<std::string> environment;
  for (const std::string& variable : inherited) {
    if (Sets(variable, control)) continue;
    if (!Sets(variable, kPreload)) {
      environment.push_back(variable);
    } else if (variable.size() > kPreload.size()) {
      preload += ':' + variable.substr(kPreload.size());
    }
  }
  environment.push_back(preload);
  environment.push_back(control + tracing.control_name);
  return environment;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  if (hidden_variable) {
    const std::size_t at = std::min(hidden_variable->at, environment.size());
    environment.insert(environment.begin() + static_cast<std::ptrdiff_t>(at),
                       hidden_variable->text);
  }
  return environment;
}

void HideVariable(const std::string& variable) {
  const std::vector<std::string> environment = OwnEnvironment();
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const auto& text) { return Sets(text, variable + '='); });
  if (found == environment.end()) return;
  hidden_variable = HiddenVariable{*found, static_cast<std::size_t>(found - environment.begin())};
  ::unsetenv(variable.c_str());
}

}  // namespace leakgate
