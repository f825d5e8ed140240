// Instructions that lie at an address, for what reads machine code.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "runner/arch/processor.h"

namespace leakgate {

inline constexpr std::uint32_t kReturn = 0xD65F'03C0;

class Code {
 public:
  explicit Code(std::vector<std::uint32_t> instructions, std::uint64_t begin = 0x40'0000)
      : instructions_(std::move(instructions)), begin_(begin) {}

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + instructions_.size() * sizeof(std::uint32_t); }
  std::uint64_t At(std::size_t instruction) const {
    return begin_ + instruction * sizeof(std::uint32_t);
  }

  CodeReader Reader() const {
    return [this](std::uint64_t address, std::size_t size) -> std::span<const std::uint8_t> {
      if (address < begin_ || address + size > end()) return {};
      return {reinterpret_cast<const std::uint8_t*>(instructions_.data()) + (address - begin_),
              size};
    };
  }

 private:
  std::vector<std::uint32_t> instructions_;
  std::uint64_t begin_;
};

}  // namespace leakgate
