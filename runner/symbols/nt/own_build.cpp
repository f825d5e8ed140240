#include "runner/symbols/own_build.h"

#include <windows.h>

#include "common/pe_identity.h"
#include "runner/symbols/nt/pe_file.h"

namespace leakgate {

std::string OwnBuild() {
  const auto* const image = reinterpret_cast<const std::uint8_t*>(::GetModuleHandleW(nullptr));
  const PeIdentity identity =
      FindPeIdentity([image](std::uint32_t address, std::uint32_t) { return image + address; });
  return HexText({identity.bytes, identity.length});
}

}  // namespace leakgate
