// The commands of the tests that a CTest build folder has. Pure.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct CtestCommand {
  std::string binary;
  std::vector<std::string> arguments;
  std::filesystem::path directory;       // where it runs
  std::vector<std::string> environment;  // NAME=VALUE, besides CTest's own

  friend bool operator==(const CtestCommand&, const CtestCommand&) = default;
};

struct CtestListing {
  std::vector<CtestCommand> commands;  // in the order of CTest, each once
  int others = 0;                      // tests that run no binary of GoogleTest's
};

// Reads what `ctest --show-only=json-v1` prints. A test that runs `leakgate run` counts with the
// program that is behind the two dashes. `is_wanted` tells of a program whether it is a binary of
// GoogleTest's. Returns an error if the text is none of CTest's.
[[nodiscard]] Expected<CtestListing> ParseCtestListing(
    const std::string& json, const std::function<bool(const std::string&)>& is_wanted);

}  // namespace leakgate
