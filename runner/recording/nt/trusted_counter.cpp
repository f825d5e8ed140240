#include "runner/recording/trusted_counter.h"

#include "runner/base/nt/win32.h"

namespace leakgate {

// QueryPerformanceCounter is made from the processor's counter where its frequency is this, since
// Windows 10 1809; from another clock it has that clock's own.
bool SystemTrustsCounter() {
  constexpr LONGLONG kOfCounter = 10'000'000;
  LARGE_INTEGER frequency{};
  return QueryPerformanceFrequency(&frequency) != 0 && frequency.QuadPart == kOfCounter;
}

}  // namespace leakgate
