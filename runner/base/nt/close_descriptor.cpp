#include "runner/base/nt/win32.h"

namespace leakgate {

void CloseDescriptor(int fd) { CloseHandle(HandleOf(fd)); }

}  // namespace leakgate
