// A file that is written so that nobody ever finds half of it: beside its place,
// and put there in one step once it is complete.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

#include "runner/base/expected.h"
#include "runner/base/file_place.h"
#include "runner/base/signal_end.h"

namespace leakgate {

// Without Commit, whatever ends the writing, the file stays as it was; and nothing else is
// left, even of a writer that is killed, where the file system has files without names. A symbolic
// link is followed. What is no regular file (a FIFO, a terminal) and /dev/stdout
// and its like are appended to directly. Where others may have put something in the way, that is
// an error (linux/file_place.h). A report that is replaced hands on its mode and owner.
class AtomicFile {
 public:
  // What messages call it, and who may read it.
  enum class Content {
    kReport,    // whom the user's umask lets
    kSnapshot,  // the user alone: it tells a process's command line and addresses
  };

  [[nodiscard]] static Expected<AtomicFile> Create(const std::filesystem::path& path,
                                                   Content content = Content::kReport);
  // Adds to the file at `path`, which others write to as well: not in one step.
  [[nodiscard]] static Expected<AtomicFile> Append(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // To write to; what goes wrong there is told by Commit.
  [[nodiscard]] std::ostream& out() { return *out_; }

  // Replaces the file, once.
  [[nodiscard]] Expected<void> Commit();

 private:
  class Buffer;  // remembers why it could not write

  AtomicFile();

  // Not open yet.
  [[nodiscard]] static Expected<AtomicFile> Find(const std::filesystem::path& path,
                                                 Content content);
  [[nodiscard]] bool is_direct() const { return temporary_.empty(); }
  [[nodiscard]] Expected<void> Open();
  [[nodiscard]] UniqueFd OpenBeside();
  void NotePartial();
  [[nodiscard]] std::error_code Place();
  [[nodiscard]] Unexpected CannotWrite(const std::string& cause, std::string_view remedy) const;

  Content content_ = Content::kReport;
  std::filesystem::path path_;  // as typed
  FilePlace place_;
  std::string temporary_;                 // a name beside it; empty: written directly
  bool is_named_ = false;                 // as `temporary_`, already
  std::unique_ptr<PartialFile> partial_;  // while it is
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> out_;  // to the buffer
};

// The same of a text that there is.
[[nodiscard]] Expected<void> WriteFileAtomically(const std::filesystem::path& path,
                                                 std::string_view text);

// Removes a file that Commit has put in its place; never a FIFO or device that was written to.
void RemoveWritten(const std::filesystem::path& path);

}  // namespace leakgate
