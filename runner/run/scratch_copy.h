// A copy of the working directory for a test that is repeated: what the repetitions write there
// nobody else sees, and what the suite's run has written stays as it is.
//
// It is an overlay of the directory in a mount namespace of the repeated process's own, so nothing
// is copied until it is written, and all is gone with the process. The directory keeps its path,
// and the process its user. Who is not root needs a user namespace for that. Where the kernel
// permits none, or other file systems are mounted below the directory, there is no copy.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace leakgate {

// A directory for the files that a repeated test writes. It is removed with all that is in it.
class ScratchDirectory {
 public:
  // Makes a directory in `parent`; none if it cannot be made.
  [[nodiscard]] static ScratchDirectory In(const std::string& parent);
  // Makes a directory in TEST_TMPDIR, else in TMPDIR or /tmp; none if it cannot be made.
  [[nodiscard]] static ScratchDirectory ForRepetitions();
  ~ScratchDirectory();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  // Empty if there is no directory.
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

class ScratchCopy {
 public:
  // Prepares a copy of this process's working directory. `scratch` is an empty directory that the
  // caller removes later. Returns nothing if a process cannot have a copy.
  [[nodiscard]] static std::optional<ScratchCopy> OfWorkingDirectory(
      const std::filesystem::path& scratch);

  // Notes that the system has refused a copy: no further one is prepared, since the directory does
  // not change.
  static void NoteRefusal();

  // Has this process, a fork of the runner, see the copy, and gives it as working directory. Called
  // between fork and exec. Async-signal-safe. Returns false on failure: then the process must end.
  [[nodiscard]] bool Enter() const noexcept;

 private:
  ScratchCopy() = default;

  [[nodiscard]] bool EnterNamespaces() const noexcept;

  std::string directory_;
  std::string memory_;  // where the file system is mounted that takes what is written
  std::string upper_;
  std::string work_;
  std::string options_;
  // What the process's own user and group are in the user namespace; empty if it needs none.
  std::string user_map_;
  std::string group_map_;
  unsigned mode_ = 0;
  unsigned user_ = 0;
  unsigned group_ = 0;
};

}  // namespace leakgate
