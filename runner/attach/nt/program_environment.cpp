#include "runner/attach/program_environment.h"

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <optional>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

// The variable that was removed from this process's environment, and its place among the others.
struct HiddenVariable {
  std::string text;
  std::size_t at = 0;
};
std::optional<HiddenVariable> hidden_variable;

}  // namespace

// The runner itself hands the agent to the suspended program, so no variable is needed.
Expected<std::vector<std::string>> ProgramEnvironment(const std::vector<std::string>& inherited,
                                                      const TracingVariables&) {
  return inherited;
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  wchar_t* const all = GetEnvironmentStringsW();
  for (const wchar_t* variable = all; variable != nullptr && *variable != L'\0';
       variable += std::wcslen(variable) + 1) {
    environment.push_back(Utf8Of(variable));
  }
  if (all != nullptr) FreeEnvironmentStringsW(all);
  if (hidden_variable) {
    const std::size_t at = std::min(hidden_variable->at, environment.size());
    environment.insert(environment.begin() + static_cast<std::ptrdiff_t>(at),
                       hidden_variable->text);
  }
  return environment;
}

void HideVariable(const std::string& variable) {
  const std::vector<std::string> environment = OwnEnvironment();
  const auto found = std::find_if(environment.begin(), environment.end(), [&](const auto& text) {
    return text.starts_with(variable + '=');
  });
  if (found == environment.end()) return;
  hidden_variable = HiddenVariable{*found, static_cast<std::size_t>(found - environment.begin())};
  _putenv((variable + '=').c_str());
}

}  // namespace leakgate
