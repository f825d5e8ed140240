// How snapshot files encode numbers and texts: numbers in LEB128 (seven bits a byte, the low
// ones first), signed ones in zigzag; a text is its length, then its bytes. Internal to this
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate::snapshot_format {

constexpr std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t UnZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class ByteWriter {
 public:
  void Number(std::uint64_t value) {
    if (bytes_.size() - used_ < kMostNumberBytes) bytes_.resize(2 * bytes_.size() + 256);
    std::uint8_t* at = bytes_.data() + used_;
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<std::uint8_t>(value | 0x80);
    *at++ = static_cast<std::uint8_t>(value);
    used_ = static_cast<std::size_t>(at - bytes_.data());
  }
  void Signed(std::int64_t value) { Number(ZigZag(value)); }
  void Text(std::string_view text) {
    Number(text.size());
    Raw(text);
  }
  void Raw(std::string_view bytes) {
    if (bytes_.size() - used_ < bytes.size()) bytes_.resize(2 * bytes_.size() + bytes.size());
    bytes.copy(reinterpret_cast<char*>(bytes_.data()) + used_, bytes.size());
    used_ += bytes.size();
  }
  void Clear() { used_ = 0; }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(bytes_.data()), used_}; }
  std::size_t size() const { return used_; }

 private:
  static constexpr std::size_t kMostNumberBytes = 10;

  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;
};

// Reads what a ByteWriter has written, and never past the end: a missing or damaged value is 0
// or empty, and is_good() is false from then on.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : at_(reinterpret_cast<const std::uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {}

  std::uint64_t Number() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return LongNumber();
  }
  std::uint32_t Number32() {
    const std::uint64_t value = Number();
    if (value > UINT32_MAX) Fail();
    return static_cast<std::uint32_t>(value);
  }
  std::int64_t Signed() { return UnZigZag(Number()); }
  std::string_view Raw(std::uint64_t length) {
    if (length > static_cast<std::uint64_t>(end_ - at_)) {
      Fail();
      return {};
    }
    const std::string_view bytes(reinterpret_cast<const char*>(at_), length);
    at_ += length;
    return bytes;
  }
  std::string_view Text() { return Raw(Number()); }

  bool is_good() const { return is_good_; }
  bool is_at_end() const { return at_ == end_; }
  void Fail() {
    is_good_ = false;
    at_ = end_;
  }

 private:
  std::uint64_t LongNumber() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const std::uint64_t byte = *at_++;
      const bool overflows = shift == 63 && byte > 1;
      if (overflows) break;
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool is_good_ = true;
};

}  // namespace leakgate::snapshot_format
