#include "runner/region/region_reader.h"

namespace leakgate {

std::uint64_t RegionReader::Inode() const { return 0; }  // a section has no number

}  // namespace leakgate
