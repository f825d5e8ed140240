// A zip archive from an untrusted source, such as a CI system: which reports or snapshots it
// contains, and their content. Nothing is unpacked into files, whatever names the archive has.
//
// The archive's directory is read and checked once, when the archive is opened. From then on, the
// place of each report is in memory, so thousands can be read in any order without a search. Any
// contradiction is an error, because a report that is left out might be the one that fails.
//
// Read on one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// The limit of the unpacked size of all archives together.
inline constexpr std::uint64_t kMostUnpackedBytes = 16ULL << 30;

// The kernel allows no longer path.
inline constexpr std::size_t kMostNameBytes = 4096;

// Returns the error for an archive that contains more than leakgate reads: "the archive WHAT".
[[nodiscard]] Unexpected TooMuchInArchive(const std::filesystem::path& path,
                                          const std::string& what);

// Returns the name of a file in an archive, as if the archive were a directory.
[[nodiscard]] std::filesystem::path InArchive(const std::filesystem::path& archive,
                                              const std::string& name);

class ZipArchive {
 public:
  struct Report {
    std::uint64_t place = 0;  // of its entry in the archive's directory
    std::uint64_t size = 0;   // unpacked, as the archive says
    unsigned long method = 0;
    bool is_encrypted = false;
    bool has_known_size = true;
  };
  using Reports = std::map<std::string, Report>;  // by name

  // `path` is for messages. Returns an error if `file` is no archive, contradicts itself, or would
  // unpack to far more than its `packed_size`: a small archive could fill any disk.
  [[nodiscard]] static Expected<std::shared_ptr<ZipArchive>> Open(const std::filesystem::path& path,
                                                                  UniqueFd file,
                                                                  std::uint64_t packed_size,
                                                                  std::string ending = ".json");

  // All files in the archive whose names have the ending.
  [[nodiscard]] const Reports& reports() const { return reports_; }

  // Reads up to `size` of a report's bytes from `at` on. Returns 0 at its end, where the checksum
  // is compared. Reading on from the last position continues the unpacking; any other position
  // unpacks the report from its beginning.
  Expected<std::size_t> Read(const std::string& name, std::uint64_t at, char* to, std::size_t size);

 private:
  ZipArchive(std::filesystem::path path, std::string ending, void* unpacker);

  Expected<std::uint64_t> ReadDirectory();
  Expected<std::uint64_t> AddEntry(std::uint64_t place);
  Expected<void> CheckSizes(std::uint64_t packed_size) const;
  Expected<void> Begin(const std::string& name);
  Expected<void> Skip(std::uint64_t bytes);
  Expected<std::size_t> ReadOn(char* to, std::size_t size);
  Expected<std::size_t> End();
  Unexpected Unreadable(const std::string& cause) const;
  Unexpected Damaged(const char* how) const;

  std::filesystem::path path_;
  std::string ending_;                              // of the names of reports
  std::unique_ptr<void, int (*)(void*)> unpacker_;  // minizip's
  Reports reports_;
  std::string begun_;           // the name of the report that is being read
  std::uint64_t begun_at_ = 0;  // how much of it has been read
};

}  // namespace leakgate
