#include "plugin/agent/linux/page_protections.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/memory_maps.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

constexpr std::uint32_t kMostRanges = 1U << 17;  // more than the kernel lets a process have
constexpr std::size_t kBufferBytes = 1U << 16;
constexpr std::size_t kMappedBytes = kMostRanges * 3 * sizeof(std::uint64_t) + kBufferBytes;

}  // namespace

PageProtections::~PageProtections() {
  Close();
  if (ranges_ != nullptr) RawSyscall(SYS_munmap, Word(ranges_), kMappedBytes);
}

bool PageProtections::Read() {
  ranges_ = static_cast<Range*>(MapPrivate(kMappedBytes));
  static_assert(sizeof(Range) == 3 * sizeof(std::uint64_t));
  if (ranges_ == nullptr) return false;
  // The memory after the ranges is the buffer for reading them.
  char* const buffer = reinterpret_cast<char*>(ranges_ + kMostRanges);
  char line[256];
  MapsReader maps({line, sizeof(line)}, {buffer, kBufferBytes});
  for (MemoryMapping mapping; count_ < kMostRanges && maps.Next(mapping);) {
    ranges_[count_++] = {mapping.begin, mapping.end, mapping.protection};
  }
  return true;
}

const PageProtections::Range* PageProtections::Find(std::uint64_t address) const {
  std::uint32_t first = 0;
  std::uint32_t last = count_;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (ranges_[middle].end <= address) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  const bool is_inside = first < count_ && ranges_[first].begin <= address;
  return is_inside ? &ranges_[first] : nullptr;
}

bool PageProtections::Store(std::uint64_t* slot, std::uint64_t value) {
  if (ranges_ == nullptr && !Read()) return false;
  const Range* const range = Find(reinterpret_cast<std::uint64_t>(slot));
  if (range == nullptr) return false;

  const bool is_protected = (range->protection & PROT_WRITE) == 0;
  const std::uint64_t page = reinterpret_cast<std::uint64_t>(slot) & ~(PageBytes() - 1);
  if (is_protected && !Open(page, range->protection)) return false;
  // Other threads call through the slot meanwhile: they see the old function or the new one.
  std::atomic_ref(*slot).store(value, std::memory_order_release);
  return true;
}

bool PageProtections::Open(std::uint64_t page, long protection) {
  if (page == open_page_) return true;
  Close();
  const long writable = protection | PROT_WRITE;
  if (IsError(RawSyscall(SYS_mprotect, static_cast<long>(page), static_cast<long>(PageBytes()),
                         writable))) {
    return false;
  }
  open_page_ = page;
  open_protection_ = protection;
  return true;
}

void PageProtections::Close() {
  if (open_page_ == 0) return;
  RawSyscall(SYS_mprotect, static_cast<long>(open_page_), static_cast<long>(PageBytes()),
             open_protection_);
  open_page_ = 0;
}

bool WriteCode(std::uint64_t address, const unsigned char* code, std::size_t bytes) {
  const std::uint64_t page = address / PageBytes() * PageBytes();
  const std::uint64_t end = (address + bytes + PageBytes() - 1) / PageBytes() * PageBytes();
  const auto protect = [&](long protection) {
    return !IsError(RawSyscall(SYS_mprotect, static_cast<long>(page), static_cast<long>(end - page),
                               protection));
  };
  if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  auto* const at = reinterpret_cast<char*>(address);
  std::memcpy(at, code, bytes);
  __builtin___clear_cache(at, at + bytes);
  return protect(PROT_READ | PROT_EXEC);
}

}  // namespace leakgate::agent
