#include "runner/base/own_memory.h"

#include <malloc.h>
#include <pthread.h>

#include <cstddef>

namespace leakgate {

void KeepFreedPages() {
  constexpr int kMiB = 1 << 20;
  // Threads of the runner wait for each other, so they need no heaps of their own.
  (void)::mallopt(M_ARENA_MAX, 1);
  (void)::mallopt(M_TOP_PAD, kMiB);
  (void)::mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
  // Larger blocks are returned to the kernel at once.
  (void)::mallopt(M_MMAP_THRESHOLD, 16 * kMiB);
}

void RaiseThreadStackSize() {
  constexpr std::size_t kLeastBytes = std::size_t{4} << 20;
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (::pthread_getattr_default_np(&attributes) != 0) return;
  const bool is_small =
      ::pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < kLeastBytes;
  if (is_small && ::pthread_attr_setstacksize(&attributes, kLeastBytes) == 0) {
    (void)::pthread_setattr_default_np(&attributes);
  }
  ::pthread_attr_destroy(&attributes);
}

}  // namespace leakgate
