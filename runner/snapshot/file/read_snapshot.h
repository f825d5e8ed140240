// Reads a snapshot file in one pass, in memory that does not grow with it.
//
// The file is not trusted: the checksum of each part and each value are checked before a visitor
// gets them. So a visitor can rely on them: ids are below the region's limits and name things
// that it was given before, and blocks are sorted by address.
#pragma once

#include <filesystem>
#include <istream>
#include <memory>
#include <string>

#include "runner/base/expected.h"
#include "runner/snapshot/file/snapshot_visitor.h"

namespace leakgate {

// Reads a file part by part, so that several can be read side by side. A path may lead into a
// bundle (bundle.h), or be that of a bundle of one snapshot.
class SnapshotReader {
 public:
  // This and all other functions here return a usage error that names the file and the problem.
  [[nodiscard]] static Expected<SnapshotReader> Open(const std::filesystem::path& path);
  // Reads from `in`, which must outlive the reader. Errors name it `name`.
  SnapshotReader(std::istream& in, const std::string& name);
  ~SnapshotReader();
  SnapshotReader(SnapshotReader&&) noexcept;
  SnapshotReader& operator=(SnapshotReader&&) noexcept;

  // Passes the content of the next part to `visitor`. Returns false when the whole file has been
  // read and nothing was missing.
  [[nodiscard]] Expected<bool> ReadPart(const SnapshotVisitor& visitor);

 private:
  class Checks;

  static Expected<SnapshotReader> OpenFromBundle(
      const std::filesystem::path& path,
      const std::pair<std::filesystem::path, std::string>& inside);

  std::unique_ptr<std::istream> file_;  // nullptr if the caller owns the stream
  std::unique_ptr<Checks> checks_;
};

// Reads the whole file. After an error, what the visitor was given is of no use.
[[nodiscard]] Expected<void> ReadSnapshot(const std::filesystem::path& path,
                                          const SnapshotVisitor& visitor);

// Reads all of `in`. Errors name it `name`.
[[nodiscard]] Expected<void> ReadSnapshot(std::istream& in, const std::string& name,
                                          const SnapshotVisitor& visitor);

}  // namespace leakgate
