// Where a file that is to be written goes, and files that have no name until they are complete.
// Used by AtomicFile, and by what hands a path to a library that writes.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <tl/expected.hpp>

#include "runner/base/descriptors.h"

namespace leakgate {

// Opens a file without a name for writing. Whatever ends the writer, kill -9 included, the kernel
// then removes the file. Returns an empty descriptor if the file system has no such files, or if
// the file could not get a name later, because there is no /proc.
// REQUIRES: `directory` is an open directory.
[[nodiscard]] UniqueFd OpenUnnamedFile(int directory, mode_t mode);

// Gives the unnamed file `fd` its first name. Returns std::errc::file_exists if the name is taken.
// REQUIRES: the file was opened in `directory`.
[[nodiscard]] std::error_code LinkUnnamedFile(int fd, int directory, const std::string& name);

// Creates a file for writing, which has `mode` (less the umask) from its first moment on. Returns
// an empty descriptor on failure, also if the file exists; errno tells why.
[[nodiscard]] UniqueFd CreateNewFile(int directory, const std::string& name, mode_t mode);

// Copies the content and the rights of the file `fd` into a new file. Used where
// LinkUnnamedFile is not permitted.
[[nodiscard]] std::error_code CopyToNewFile(int fd, int directory, const std::string& name);

// Gives the file `fd` the mode of `replaced`, and its owner and group where the kernel permits.
void CopyRights(const struct stat& replaced, int fd);

// Returns whether the file or folder is the user's own, and only the user can write to it.
[[nodiscard]] bool IsOfUserAlone(const struct stat& facts);

enum class MissingFolders { kRefused, kMade };

// Opens the folder `path`, an absolute path, in order to look things up in it. The folder is
// IsOfUserAlone and no link. All folders and links on the way to it belong to the user or to root,
// and nobody else can exchange them, so the path will lead to what is found here. Makes the last
// three folders if they are missing and the caller asks for it. Returns an empty descriptor if
// there is no such folder.
[[nodiscard]] UniqueFd OpenOwnFolder(const std::filesystem::path& path, MissingFolders missing);

// Says why a file cannot be written, and what to do. The two texts are parts of one message.
struct PlaceProblem {
  std::string cause;
  std::string remedy;
};

// The place of a file that is to be written: its directory, which is held open, and its name
// there.
//
// The path is walked once, part by part. The file is then created, linked and renamed in the open
// directory, so it does not matter if others exchange a part of the path meanwhile.
//
// Where everybody may create files but only owners may delete them, as in /tmp, other users may
// plant links and files. There a link is followed, and a file or FIFO written, only if it belongs
// to the user or to the directory's owner. The kernel has the same rule (fs.protected_symlinks,
// protected_fifos, protected_regular), but it is not always switched on, and it does not cover the
// replacing of a file.
class FilePlace {
 public:
  FilePlace() = default;  // no place

  // For kRead the rule above applies to links only, since reading a file does not change it.
  enum class Use { kRead, kWrite };

  // Finds the place that `path` leads to. The file may be missing; its directory must exist.
  [[nodiscard]] static tl::expected<FilePlace, PlaceProblem> Find(const std::filesystem::path& path,
                                                                  Use use = Use::kWrite);

  // The place that is called `name` in an open directory, whatever is there.
  [[nodiscard]] static FilePlace In(UniqueFd directory, std::string name) {
    return FilePlace(std::move(directory), std::move(name), std::nullopt, Entry::kItself);
  }

  [[nodiscard]] int directory() const { return directory_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The file that was at the place when it was found; nullopt if there was none.
  [[nodiscard]] const std::optional<struct stat>& occupant() const { return occupant_; }
  // True if the occupant must not be replaced: a FIFO, a device, or what this process has open
  // (/dev/stdout).
  [[nodiscard]] bool IsWrittenDirectly() const;

  // Opens the file for appending, and creates it with `mode` if it is missing. Opening a FIFO waits
  // until somebody reads it, or until a signal asks this process to end.
  [[nodiscard]] tl::expected<UniqueFd, PlaceProblem> OpenToAppend(mode_t mode) const;
  // Whether another user may have planted the file with this name and `suffix`.
  [[nodiscard]] bool IsSiblingPlanted(std::string_view suffix) const;
  // The path without links, for libraries that only accept a path. Empty on failure.
  [[nodiscard]] std::filesystem::path CanonicalPath() const;

 private:
  // A link of the kernel is one in /proc: it may lead to a file that has no path.
  enum class Entry { kItself, kLinkOfKernel };
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
