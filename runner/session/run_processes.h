// The processes that a run traces, for whoever asks while it goes on (runner/named_session
// lets commands of other shells ask).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

struct RunProcess {
  int pid = 0;
  std::string image;  // the file that it executes
  std::vector<std::string> arguments;
  bool has_ended = false;  // or executes another program
  UniqueFd region{};       // a descriptor of its own
};

// Those that have not been judged yet, the program first. Any thread.
using RunProcesses = std::function<std::vector<RunProcess>()>;

// Answers others for as long as what it returns lives.
using ServeRun = std::function<std::shared_ptr<void>(RunProcesses processes)>;

}  // namespace leakgate
