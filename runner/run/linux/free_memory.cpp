#include "runner/run/free_memory.h"

#include <malloc.h>

namespace leakgate {

void GiveBackFreeMemory() { ::malloc_trim(0); }

}  // namespace leakgate
