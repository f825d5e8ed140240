// This function has a file of its own for tests that are linked with nothing else of the runner.
#include <unistd.h>

#include "runner/base/descriptors.h"

namespace leakgate {

void CloseDescriptor(int fd) { ::close(fd); }

}  // namespace leakgate
