// The one definition of leakgate's command line: what is parsed, and what help, manual pages
// and shell completion are written from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "runner/cli/budget_options.h"
#include "runner/cli/other_options.h"
#include "runner/cli/result_options.h"
#include "runner/cli/run_options.h"
#include "runner/cli/session_options.h"
#include "runner/cli/snapshot_options.h"

namespace leakgate {

struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The full name of the command that was found, "budget check"; empty: none.
  [[nodiscard]] std::string ParsedName() const;

  CLI::App app;
  RunOptions run;
  BudgetOptions budget;
  ResultOptions results;
  SessionOptions sessions;
  SnapshotOptions snapshots;
  OtherOptions others;
};

}  // namespace leakgate
