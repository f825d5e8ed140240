// Apart from the rest, for tests that are linked with nothing of the runner.
#include <unistd.h>

#include "runner/base/descriptors.h"

namespace leakgate {

void CloseDescriptor(int fd) { ::close(fd); }

}  // namespace leakgate
