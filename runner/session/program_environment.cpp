#include "runner/session/program_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "common/control_protocol.h"

namespace leakgate {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";

bool Sets(const std::string& variable, std::string_view prefix) {
  return variable.starts_with(prefix);
}

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
  return environment;
}

}  // namespace leakgate
