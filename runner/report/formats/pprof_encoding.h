// What pprof's format is made of: protobuf messages, and gzip around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

// Compresses `text` as gzip does, without a time or a name: the same text gives the same bytes.
// Throws std::bad_alloc if there is no memory; nothing else can fail.
[[nodiscard]] std::string Gzip(const std::string& text);

// Builds a protobuf message, as far as profile.proto needs it. Numbers that are 0 are left out,
// as proto3 does.
class ProtobufMessage {
 public:
  void AddNumber(std::uint32_t field, std::uint64_t value) {
    if (value != 0) AddPresentNumber(field, value);
  }
  // Adds the number even if it is 0, as proto2 tells it from one that is left out.
  void AddPresentNumber(std::uint32_t field, std::uint64_t value) {
    AppendVarint(bytes_, field << 3);
    AppendVarint(bytes_, value);
  }

  // Adds the field even if `bytes` is empty, since it may be an element of a repeated field.
  void AddBytes(std::uint32_t field, std::string_view bytes) {
    AppendVarint(bytes_, field << 3 | kLengthDelimited);
    AppendVarint(bytes_, bytes.size());
    bytes_ += bytes;
  }

  void AddMessage(std::uint32_t field, const ProtobufMessage& message) {
    AddBytes(field, message.bytes());
  }

  void AddPacked(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    std::string packed;
    for (const std::uint64_t value : values) AppendVarint(packed, value);
    AddBytes(field, packed);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kLengthDelimited = 2;

  static void AppendVarint(std::string& bytes, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
    bytes += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace leakgate
