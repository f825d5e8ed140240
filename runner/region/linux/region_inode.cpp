#include <sys/stat.h>

#include "runner/region/region_reader.h"

namespace leakgate {

std::uint64_t RegionReader::Inode() const {
  struct stat status;
  return ::fstat(fd_->get(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace leakgate
