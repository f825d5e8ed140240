#include "runner/cli/version.h"

#include <fmt/format.h>

#include "common/region_layout.h"

namespace leakgate {

std::string VersionText() {
  return fmt::format("leakgate {} (region layout {})", LEAKGATE_VERSION, kLayoutVersion);
}

std::string VersionNumber() { return LEAKGATE_VERSION; }

}  // namespace leakgate
