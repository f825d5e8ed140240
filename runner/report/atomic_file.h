// A file that is written so that nobody ever finds half of it: beside its place,
// and put there in one step once it is complete.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string_view>

#include "runner/util/expected.h"

namespace leakgate {

// Without Commit, whatever ends the writing, the file stays as it was. A symbolic
// link is followed. What is no regular file (a FIFO, a terminal) and /dev/stdout
// and its like are appended to directly.
class AtomicFile {
 public:
  [[nodiscard]] static Expected<AtomicFile> Create(const std::filesystem::path& path);
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

  [[nodiscard]] Expected<void> Open(const char* mode);

  std::filesystem::path path_;       // as typed
  std::filesystem::path target_;     // links followed
  std::filesystem::path temporary_;  // empty: written directly
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> out_;  // to the buffer
};

// The same of a text that there is.
[[nodiscard]] Expected<void> WriteFileAtomically(const std::filesystem::path& path,
                                                 std::string_view text);

}  // namespace leakgate
