// A file that has no name until it is complete: the kernel takes it away with its writer,
// however that ends, kill -9 included.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <tl/expected.hpp>

#include "runner/base/descriptors.h"

namespace leakgate {

// To write to, for a file in `directory`, which is open. None where the file system has no such
// files, or where they could not be named later (no /proc).
[[nodiscard]] UniqueFd OpenUnnamedFile(int directory, mode_t mode);

// Gives what is open as `fd` its first name. std::errc::file_exists if that is taken.
// REQUIRES: `directory` is the one that the file was opened in.
[[nodiscard]] std::error_code NameFile(int fd, int directory, const std::string& name);

// To write to: a file that was not there. From its first moment on nobody may open it whom it is
// not for.
[[nodiscard]] UniqueFd CreateNewFile(int directory, const std::string& name, mode_t mode);

// For where naming is forbidden: what is open as `fd`, with its rights, in a new file.
[[nodiscard]] std::error_code CopyToNewFile(int fd, int directory, const std::string& name);

// Gives what is open as `fd` the mode of the file that it is to replace, and as far as may be
// its owner and group.
void TakeRightsOf(const struct stat& replaced, int fd);

// Where a file that is to be written goes: its directory, open, and its name in there.
//
// A path is walked once, part by part, and what it led to is kept open: the file is then
// created, linked and renamed in that directory, whatever others swap on the way meanwhile.
//
// In a directory that all may write and only owners may delete from, as /tmp is, a link is
// followed, and a file or FIFO written, only if it is the user's own or the directory's
// owner's. The kernel has the same rule (fs.protected_symlinks, protected_fifos,
// protected_regular), but not everywhere, and not for who replaces a file.

// Why a file cannot be written there, and what to do; the two make a message.
struct PlaceProblem {
  std::string cause;
  std::string remedy;
};

class FilePlace {
 public:
  FilePlace() = default;  // nowhere

  // Reading what is there does no harm to it: then the rule is for links only.
  enum class Use { kRead, kWrite };

  // The file may be missing, its directory must be there.
  [[nodiscard]] static tl::expected<FilePlace, PlaceProblem> Find(const std::filesystem::path& path,
                                                                  Use use = Use::kWrite);

  [[nodiscard]] int directory() const { return directory_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // What is there now, if anything is.
  [[nodiscard]] const std::optional<struct stat>& occupant() const { return occupant_; }
  // It is what this process has open (/dev/stdout), a FIFO or a device: not to be replaced.
  [[nodiscard]] bool IsWrittenDirectly() const;

  // To append to it; a new file has `mode`. A FIFO is waited for until somebody reads it, or a
  // signal asks this process to end.
  [[nodiscard]] tl::expected<UniqueFd, PlaceProblem> OpenToAppend(mode_t mode) const;
  // Whether the file that is called this one with `suffix` behind is somebody else's.
  [[nodiscard]] bool IsStrangersBeside(std::string_view suffix) const;
  // Without links, for those who can only be told a path; empty: it cannot be told.
  [[nodiscard]] std::filesystem::path CanonicalPath() const;

 private:
  enum class Entry { kItself, kLinkOfKernel };  // of /proc: leads to what no path may name
  FilePlace(UniqueFd directory, std::string name, std::optional<struct stat> occupant, Entry entry)
      : directory_(std::move(directory)),
        name_(std::move(name)),
        occupant_(occupant),
        entry_(entry) {}

  UniqueFd directory_;
  std::string name_;
  std::optional<struct stat> occupant_;
  Entry entry_ = Entry::kItself;
};

}  // namespace leakgate
