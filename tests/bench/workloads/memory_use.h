// What this process has touched, by /proc/self/smaps.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace bench {

struct MemoryUse {
  std::uint64_t private_kib = 0;  // anonymous pages, the heap among them
  std::uint64_t heap_kib = 0;     // of these, the C library's main heap
  std::uint64_t region_kib = 0;   // leakgate's region, as this process has touched it
};

inline MemoryUse ReadMemoryUse() {
  MemoryUse use;
  char buffer[1 << 16];
  std::FILE* const smaps = std::fopen("/proc/self/smaps", "r");
  if (smaps == nullptr) return use;
  std::setvbuf(smaps, buffer, _IOFBF, sizeof(buffer));  // none from the heap

  char line[4352];
  bool is_heap = false;
  bool is_region = false;
  while (std::fgets(line, sizeof(line), smaps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long kib = 0;
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      is_heap = std::strstr(line, "[heap]") != nullptr;
      is_region = std::strstr(line, "/memfd:leakgate") != nullptr;
    } else if (std::sscanf(line, "Rss: %lu kB", &kib) == 1) {
      if (is_heap) use.heap_kib += kib;
      if (is_region) use.region_kib += kib;
    } else if (std::sscanf(line, "Anonymous: %lu kB", &kib) == 1) {
      use.private_kib += kib;
    }
  }
  std::fclose(smaps);
  return use;
}

}  // namespace bench
