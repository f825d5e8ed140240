#include "runner/base/nt/win32.h"
#include "runner/region/region_writer.h"

namespace leakgate {

// What is committed already stays as it is.
bool MakeRoomInRegion(std::byte* at, std::size_t bytes) {
  return bytes == 0 || ::VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

}  // namespace leakgate
