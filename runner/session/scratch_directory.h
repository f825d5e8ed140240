// A directory of its own for the files that a repeated test writes, where the
// user has named one (TEST_TMPDIR): removed with all that is in it.
#pragma once

#include <filesystem>
#include <utility>

namespace leakgate {

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
