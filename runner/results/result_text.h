// The bytes of a result: of a file, or of a file in a zip archive, as Bazel and CI systems make
// them. A file in an archive is named as if the archive were a directory:
// "outputs.zip/my_tests-0.json". It is unpacked once, into a temporary file without a name.
// Archives that would unpack to far too much are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

class ResultText {
 public:
  // Opens the text from byte `begin` on. Returns an error if there is no such file, or if it cannot
  // be read twice, as a pipe.
  [[nodiscard]] static Expected<ResultText> Open(const std::filesystem::path& path,
                                                 std::uint64_t begin = 0);

  // Opens it from its beginning, to find out what it is: nothing is unpacked to the disk.
  [[nodiscard]] static Expected<ResultText> Glance(const std::filesystem::path& path);

  // Reads up to `size` of the next bytes. Returns 0 at the end, and if reading fails.
  std::size_t Read(char* to, std::size_t size) { return read_(to, size); }

 private:
  using Reader = std::function<std::size_t(char* to, std::size_t size)>;
  explicit ResultText(Reader read) : read_(std::move(read)) {}

  static Expected<ResultText> OpenFile(const std::filesystem::path& path, std::uint64_t begin);
  static Expected<ResultText> OpenMember(const std::filesystem::path& archive,
                                         const std::string& member);

  Reader read_;
};

[[nodiscard]] bool IsArchive(const std::filesystem::path& path);

// Returns the *.json in an archive, sorted by name, or an error if it cannot be read.
[[nodiscard]] Expected<std::vector<std::filesystem::path>> JsonFilesIn(
    const std::filesystem::path& archive);

}  // namespace leakgate
