#include "tests/support/leakgate_run.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace leakgate::test {
namespace {

constexpr const char* kLiteralBudget = LEAKGATE_SOURCE_DIR "/tests/fixtures/literal.leakgate.json";

std::vector<std::string> WithLiteralBudget(std::vector<std::string> options) {
  const bool has_budgets = std::find(options.begin(), options.end(), "--budgets") != options.end();
  if (!has_budgets) options.insert(options.end(), {"--budgets", kLiteralBudget});
  return options;
}

// By program, options and environment.
using RunKey =
    std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>>;

std::map<RunKey, GatedRun>& SharedRuns() {
  static std::map<RunKey, GatedRun> runs;
  return runs;
}

}  // namespace

nlohmann::json GatedRun::Window(const std::string& kind, const std::string& name,
                                int iteration) const {
  if (!report.is_object()) return nullptr;
  for (const nlohmann::json& window : report["windows"]) {
    if (window["kind"] == kind && window["name"] == name && window["iteration"] == iteration) {
      return window;
    }
  }
  return nullptr;
}

GatedRun RunByDefault(const std::vector<std::string>& program,
                      const std::vector<std::string>& options,
                      const CommandOptions& command_options) {
  const TemporaryDirectory directory;
  const std::string report = directory.File("report.json");
  std::vector<std::string> command = {LeakgatePath(), "run", "--report", "json=" + report};
  // What grows in fixtures is not freed in time, but for those that say so.
  if (std::find(options.begin(), options.end(), "--confirm-wait") == options.end()) {
    command.insert(command.end(), {"--confirm-wait", "0.05"});
  }
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());

  GatedRun run;
  run.command = RunCommand(command, command_options);
  const std::string text = ReadFile(report);
  if (!text.empty()) run.report = nlohmann::json::parse(text);
  return run;
}

GatedRun RunGated(const std::vector<std::string>& program, const std::vector<std::string>& options,
                  const CommandOptions& command_options) {
  return RunByDefault(program, WithLiteralBudget(options), command_options);
}

const GatedRun& SharedRunByDefault(const std::vector<std::string>& program,
                                   const std::vector<std::string>& options,
                                   const std::vector<std::string>& environment) {
  const RunKey key(program, options, environment);
  const auto made = SharedRuns().find(key);
  if (made != SharedRuns().end()) return made->second;
  return SharedRuns()
      .emplace(key, RunByDefault(program, options, {.environment = environment}))
      .first->second;
}

const GatedRun& SharedGatedRun(const std::vector<std::string>& program,
                               const std::vector<std::string>& options,
                               const std::vector<std::string>& environment) {
  return SharedRunByDefault(program, WithLiteralBudget(options), environment);
}

void ForgetSharedRuns() { SharedRuns().clear(); }

const std::vector<std::string>& ReportFormats() {
  static const std::vector<std::string> formats = [] {
    const std::string text =
        Leakgate({"run", "--report", "none=file", "--", "true"}).standard_error;
    constexpr std::string_view kKnown = "known: ";
    std::istringstream names(text.substr(std::min(text.find(kKnown), text.size())));
    names.ignore(kKnown.size());
    std::vector<std::string> found;
    for (std::string name; names >> name;) {
      if (name.ends_with(',')) name.pop_back();
      found.push_back(std::move(name));
    }
    return found;
  }();
  return formats;
}

std::string FixturePath(const std::string& name) {
  return std::string(LEAKGATE_BINARY_DIR) + "/fixtures/" + name;
}

CommandResult Leakgate(std::vector<std::string> arguments, const CommandOptions& options) {
  arguments.insert(arguments.begin(), LeakgatePath());
  return RunCommand(arguments, options);
}

std::string LeakgatePath() {
  const char* const other = std::getenv("LEAKGATE_UNDER_TEST");  // a sanitized build, say
  return other != nullptr ? other : std::string(LEAKGATE_BINARY_DIR) + "/bin/leakgate";
}

}  // namespace leakgate::test
