// Reads the DWARF encodings of .eh_frame from the process's own memory, and never past `end`. After
// an attempt to read past the end, or an unknown encoding, failed() is true and every value is 0.
#pragma once

#include <cstdint>
#include <cstring>

namespace leakgate::agent {

class ByteCursor {
 public:
  ByteCursor(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  const std::uint8_t* position() const { return at_; }
  bool at_end() const { return at_ >= end_; }
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }

  template <typename T>
  T Read() {
    T value{};
    if (!Has(sizeof(T))) return value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t ReadUleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = Read<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }

  std::int64_t ReadSleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const std::uint8_t byte = Read<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    Fail();
    return 0;
  }

  void Skip(std::uint64_t bytes) {
    if (Has(bytes)) at_ += bytes;
  }

  // A pointer in one of the DW_EH_PE_* encodings, relative to `data_base` where
  // the encoding says so. The indirect bit is not followed: only personality
  // routines use it, and they are skipped.
  std::uint64_t ReadEncoded(std::uint8_t encoding, std::uint64_t data_base = 0);

 private:
  bool Has(std::uint64_t bytes) {
    if (!failed_ && bytes <= static_cast<std::uint64_t>(end_ - at_)) return true;
    failed_ = true;
    return false;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

}  // namespace leakgate::agent
