// The bytes of a result: of a file, or of a file in a zip archive, which Bazel and CI
// systems make of what a job leaves. Such a one is named as if the archive were a
// directory: "outputs.zip/my_tests-0.json". What is read of it is unpacked once, into a
// temporary file without a name; what would unpack to far too much is refused.
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
  // From byte `begin` on. Error: there is no such file, or it cannot be read twice, as a
  // pipe cannot.
  [[nodiscard]] static Expected<ResultText> Open(const std::filesystem::path& path,
                                                 std::uint64_t begin = 0);

  // The same from its beginning, for a look at what it is: nothing is unpacked to the disk.
  [[nodiscard]] static Expected<ResultText> Glance(const std::filesystem::path& path);

  // Up to `size` of the next bytes; 0 at the end, and where reading fails.
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

// The *.json in an archive, by name. Error: it cannot be read.
[[nodiscard]] Expected<std::vector<std::filesystem::path>> JsonFilesIn(
    const std::filesystem::path& archive);

}  // namespace leakgate
