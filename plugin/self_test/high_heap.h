// A heap above 4 GiB, where those of Windows lie. Wine's have addresses like everyday numbers,
// which look like pointers.
#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>

// Takes all address space below 4 GiB that is free, for good.
inline void TakeLowAddresses() {
  constexpr std::uintptr_t kHigh = std::uintptr_t{4} << 30;
  for (std::size_t part = std::size_t{1} << 30; part >= std::size_t{1} << 16; part /= 2) {
    while (void* const low = ::VirtualAlloc(nullptr, part, MEM_RESERVE, PAGE_NOACCESS)) {
      if (reinterpret_cast<std::uintptr_t>(low) < kHigh) continue;
      ::VirtualFree(low, 0, MEM_RELEASE);
      break;
    }
  }
}

// Of it, `bytes` are committed at once.
inline HANDLE MakeHighHeap(std::size_t bytes) {
  TakeLowAddresses();
  return ::HeapCreate(0, bytes, 0);
}
