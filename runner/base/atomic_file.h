// Writes a file so that nobody ever finds half of it: the text goes to a temporary file in the
// same directory, which replaces the target in one step once it is complete.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/base/signal_end.h"

namespace leakgate {

class FilePlace;

// Until Commit succeeds, the file at the target path stays as it was. If the writer is killed, it
// leaves no temporary file behind, provided that the file system supports files without names.
//
// Symbolic links are followed. A target that is not a regular file (a FIFO, a terminal), or that
// this process has open (/dev/stdout), is appended to directly. Writing fails where another user
// may have planted a link or a file in the way (file_place.h). A report that replaces another
// takes over its mode and owner.
class AtomicFile {
 public:
  // Decides what messages call the file, and who may read it.
  enum class Content {
    kReport,     // everybody whom the user's umask allows
    kSnapshot,   // only the user: a snapshot shows a process's command line and addresses
    kRecording,  // likewise
  };

  [[nodiscard]] static Expected<AtomicFile> Create(const std::filesystem::path& path,
                                                   Content content = Content::kReport);
  // Creates a file that only the user may read, in an open directory. It replaces whatever is
  // called `name` there, unless that is a directory.
  [[nodiscard]] static Expected<AtomicFile> CreateIn(const UniqueFd& directory,
                                                     const std::string& name);
  // Opens the report at `path` for appending, not atomically: other processes append to it, too.
  [[nodiscard]] static Expected<AtomicFile> Append(const std::filesystem::path& path);
  // Creates a recording, which others can read while it is written, and of which all that was
  // flushed is kept whatever happens. If there is a file, returns a usage error, or replaces a
  // regular file with `Existing::kReplaced`.
  enum class Existing { kRefused, kReplaced };
  [[nodiscard]] static Expected<AtomicFile> CreateGrowing(const std::filesystem::path& path,
                                                          Existing existing);
  // Finds out whether CreateGrowing would succeed now, and leaves nothing there.
  [[nodiscard]] static Expected<void> CheckGrowing(const std::filesystem::path& path,
                                                   Existing existing);
  // Finds out whether a report could be written to `path` now, and leaves nothing there. A target
  // that is written directly, such as a FIFO, is not opened.
  [[nodiscard]] static Expected<void> CheckPlace(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // The stream to write to. Commit reports the errors of writing.
  [[nodiscard]] std::ostream& out() { return *out_; }

  // Hands all to the kernel. Returns the first error of writing so far.
  [[nodiscard]] Expected<void> Flush();

  // Puts the complete file in its place. May be called once. Fails if writing or replacing failed;
  // a file that was to be replaced is then unchanged.
  [[nodiscard]] Expected<void> Commit();

 private:
  class Buffer;  // remembers the first error of writing

  AtomicFile();

  // Finds the place of the file, and opens nothing yet.
  [[nodiscard]] static Expected<AtomicFile> Locate(const std::filesystem::path& path,
                                                   Content content);
  [[nodiscard]] static Expected<AtomicFile> LocateGrowing(const std::filesystem::path& path,
                                                          Existing existing);
  [[nodiscard]] bool is_direct() const { return temporary_.empty(); }
  [[nodiscard]] Expected<void> Open();
  [[nodiscard]] UniqueFd OpenTemporary();
  void RegisterTemporary();
  [[nodiscard]] std::error_code MoveIntoPlace();
  [[nodiscard]] Unexpected CannotWrite(const std::string& cause, std::string_view remedy) const;

  Content content_ = Content::kReport;
  std::filesystem::path path_;  // as the user typed it
  std::unique_ptr<FilePlace> place_;
  std::string temporary_;                 // the temporary file's name; empty: written directly
  bool is_named_ = false;                 // the temporary file has that name already
  std::unique_ptr<PartialFile> partial_;  // set while it has
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> out_;  // writes to the buffer
};

// Writes `text` as a report to `path`, through an AtomicFile.
[[nodiscard]] Expected<void> WriteFileAtomically(const std::filesystem::path& path,
                                                 std::string_view text);

// Removes a regular file that an AtomicFile has written. Leaves a FIFO or a device alone.
void RemoveWrittenFile(const std::filesystem::path& path);

}  // namespace leakgate
