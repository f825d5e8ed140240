#include "runner/base/heap_pages.h"

#include <malloc.h>

namespace leakgate {

void KeepFreedPages() {
  constexpr int kMiB = 1 << 20;
  // Threads of the runner wait for each other: they need no heaps of their own.
  (void)::mallopt(M_ARENA_MAX, 1);
  (void)::mallopt(M_TOP_PAD, kMiB);
  (void)::mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
  // What is larger is returned to the kernel at once.
  (void)::mallopt(M_MMAP_THRESHOLD, 16 * kMiB);
}

}  // namespace leakgate
