#include "runner/base/own_memory.h"

#include "runner/base/large_pages.h"
#include "runner/base/nt/win32.h"
#include "runner/base/page_size.h"

namespace leakgate {

// The heap of Windows keeps pages by itself.
void KeepFreedPages() {}

// The program's file says how much stack threads have (runner/CMakeLists.txt).
void RaiseThreadStackSize() {}

std::uint64_t PageBytes() {
  static const std::uint64_t bytes = [] {
    SYSTEM_INFO facts{};
    GetSystemInfo(&facts);
    return std::uint64_t{facts.dwPageSize};
  }();
  return bytes;
}

// Large pages take a privilege that users do not have.
void PreferLargePages(void*, std::size_t) {}

}  // namespace leakgate
