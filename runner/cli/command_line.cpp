#include "runner/cli/command_line.h"

#include "runner/cli/version.h"

namespace leakgate {
namespace {

// The help of all commands is made with the first.
void AddGeneralOptions(CLI::App& app) {
  app.set_help_flag("-h,--help", "This text");
  app.set_version_flag("--version", VersionText(), "The version, and how it was built");
}

CLI::App& Prepared(CLI::App& app) {
  AddGeneralOptions(app);
  app.require_subcommand(0, 1);
  app.allow_extras();
  return app;
}

}  // namespace

CommandLine::CommandLine()
    : run(Prepared(app)), budget(app), results(app), sessions(app), snapshots(app), others(app) {}

std::string CommandLine::ParsedName() const {
  std::string name;
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  return name;
}

}  // namespace leakgate
