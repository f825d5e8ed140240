// Runs a real command and keeps what it did.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace leakgate::test {

struct CommandOptions {
  std::vector<std::string> environment{};  // NAME=VALUE added to this process's own
  std::string standard_input{};
  std::string directory{};  // to run in; empty: this process's
  std::chrono::seconds timeout{120};
};

struct CommandResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string standard_output;
  std::string standard_error;
};

// Throws std::runtime_error if the command cannot be started or does not end in
// time (it is killed then).
CommandResult RunCommand(const std::vector<std::string>& command,
                         const CommandOptions& options = {});

// Returns whether the shell finds the program `name`.
bool HasProgram(const std::string& name);

// A directory of its own, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path);

}  // namespace leakgate::test
