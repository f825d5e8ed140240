// What proves that a part of a snapshot file is as it was written. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

#include "runner/snapshot_file/format.h"

namespace leakgate::snapshot_format {

// Of all of the header but the checksum itself, and of what is stored behind it.
[[nodiscard]] std::uint64_t ChecksumOf(const PartHeader& header, std::string_view stored);

}  // namespace leakgate::snapshot_format
