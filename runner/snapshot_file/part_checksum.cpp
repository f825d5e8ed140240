#include "runner/snapshot_file/part_checksum.h"

#include <xxhash.h>

namespace leakgate::snapshot_format {

std::uint64_t ChecksumOf(const PartHeader& header, std::string_view stored) {
  const std::uint64_t of_header = XXH3_64bits(&header, kCheckedHeaderBytes);
  return XXH3_64bits_withSeed(stored.data(), stored.size(), of_header);
}

}  // namespace leakgate::snapshot_format
