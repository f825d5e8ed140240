// The programs that `leakgate adopt` runs: test binaries, and what the tests of a CTest build
// folder run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/run/ctest_listing.h"

namespace leakgate {

// What the user has named.
struct AdoptedTargets {
  std::vector<std::filesystem::path> files_and_folders;  // test binaries and CTest build folders
  std::vector<std::string> program;                      // one binary and its arguments; or empty
};

// Finds them, and fails with a usage error if one cannot be gated. `tell` gets a line about what of
// a build folder is left out. `scratch` is a directory for temporary files.
[[nodiscard]] Expected<std::vector<CtestCommand>> FindAdoptedPrograms(
    const AdoptedTargets& targets, const std::filesystem::path& scratch,
    const std::function<void(const std::string& line)>& tell);

// Returns whether the program runs one test alone, so that nothing in it can be shuffled.
[[nodiscard]] bool RunsOneTest(const CtestCommand& program);

// Returns the distinct binaries, in the order of `programs`.
[[nodiscard]] std::vector<std::string> BinariesOf(const std::vector<CtestCommand>& programs);

// Returns "build/net_test", or "3 binaries in 40 processes". REQUIRES: there is a program.
[[nodiscard]] std::string ProgramsText(const std::vector<CtestCommand>& programs);

}  // namespace leakgate
