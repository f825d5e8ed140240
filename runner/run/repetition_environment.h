// What a repeated test is run with: variables and arguments of the suite's run without those that
// choose or report tests, and a directory for its files.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace leakgate {

// Returns `environment` without what GoogleTest and test runners pass by environment. Pure.
[[nodiscard]] std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment);

// Returns `arguments` without those that choose, repeat, order or report tests. Pure.
[[nodiscard]] std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments);

// A directory of its own for the files that a repeated test writes, where the user has named one
// (TEST_TMPDIR): it is removed with all that is in it.
class ScratchDirectory {
 public:
  // In TEST_TMPDIR; none if that is not set or nothing can be made there.
  [[nodiscard]] static ScratchDirectory BesideTestTmpdir();
  ~ScratchDirectory();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  // Empty: there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace leakgate
