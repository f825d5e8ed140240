// A bundle: snapshots, of one process or several, in one zip archive together with what is known
// about their origin. Any tool can unpack it, and each snapshot in it is a snapshot file.
//
//   hunt.zip
//     bundle.json                    what happened, and which snapshots there are
//     redis-server-12-1.snapshot     each as it was, or with what its addresses are called
//
// A snapshot in a bundle is named as if the bundle were a directory:
// hunt.zip/redis-server-12-1.snapshot. The archive is not trusted (archive/zip_archive.h), and
// neither are the snapshots in it.
#pragma once

#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// Whether `path` is a file that begins as zip archives do.
[[nodiscard]] bool IsBundle(const std::filesystem::path& path);

// Returns the bundle that `path` leads into and the name of the snapshot in it, if it does.
[[nodiscard]] std::optional<std::pair<std::filesystem::path, std::string>> SplitBundlePath(
    const std::filesystem::path& path);

// Returns the name of a snapshot in a bundle. The given name may be absolute: it still means a file
// in the bundle.
[[nodiscard]] std::filesystem::path PathInBundle(const std::filesystem::path& bundle,
                                                 const std::string& name);

// Returns the names of a bundle's snapshots, sorted. Returns a usage error if it has none.
[[nodiscard]] Expected<std::vector<std::string>> SnapshotsIn(const std::filesystem::path& bundle);

// Returns the content of bundle.json; an empty text if there is none.
[[nodiscard]] Expected<std::string> ManifestOf(const std::filesystem::path& bundle);

// The stream is bad() if the archive is damaged.
[[nodiscard]] Expected<std::unique_ptr<std::istream>> OpenInBundle(
    const std::filesystem::path& bundle, const std::string& name);

inline constexpr const char* kManifestName = "bundle.json";

// Collects a bundle, whose file appears only when it is complete.
class BundleWriter {
 public:
  [[nodiscard]] static Expected<BundleWriter> Create();
  ~BundleWriter();
  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;

  // Adds a file. Snapshots are packed already. REQUIRES: no two names are the same.
  enum class Packing { kAsItIs, kPacked };
  [[nodiscard]] Expected<void> Add(const std::string& name, std::string_view bytes,
                                   Packing packing);
  // Writes the bundle; only its owner can read it.
  [[nodiscard]] Expected<void> Finish(const std::filesystem::path& path);

 private:
  struct Archive;
  explicit BundleWriter(std::unique_ptr<Archive> archive);

  std::unique_ptr<Archive> archive_;
};

// The names of a snapshot's addresses.
struct SymbolsToAdd {
  std::vector<SnapshotSymbols> symbols{};
  std::vector<SnapshotSymbolProblem> problems{};
};

// Returns the snapshot `bytes` with these symbols instead of those that it may have. REQUIRES: the
// snapshot is whole. Errors call it `name`.
[[nodiscard]] Expected<std::string> WithSymbols(const std::string& bytes, const std::string& name,
                                                const SymbolsToAdd& symbols);

}  // namespace leakgate
