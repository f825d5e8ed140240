#include "plugin/agent/region.h"

#include <cstring>

namespace leakgate::agent {

constinit Region g_region;

TextRef Region::AddText(const char* text, std::uint32_t length) const {
  std::atomic<std::uint32_t>& used = header().text_bytes;
  std::uint32_t offset = used.load(std::memory_order_relaxed);
  do {
    if (length > kMaxTextBytes - offset) {
      Drop(DropReason::kTextFull);
      return {0, 0};
    }
  } while (!used.compare_exchange_weak(offset, offset + length, std::memory_order_relaxed));
  std::memcpy(this->text() + offset, text, length);
  return {offset, length};
}

}  // namespace leakgate::agent
