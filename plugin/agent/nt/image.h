// A PE image as it is mapped: its header and directories. Nothing is read outside of the image,
// whatever a damaged header says.
//
// Formats: Microsoft's "PE Format".
#pragma once

#include <cstdint>

namespace leakgate::agent {

class Image {
 public:
  // `base` is where an image is mapped, or 0.
  explicit Image(std::uint64_t base);

  // False if there is no image for x86-64.
  explicit operator bool() const { return bytes_ != 0; }
  std::uint64_t base() const { return base_; }
  std::uint32_t bytes() const { return bytes_; }

  // Returns the `count` values at `offset`; nullptr if they are not all within the image.
  template <typename T>
  T* At(std::uint64_t offset, std::uint64_t count = 1) const {
    const bool is_within = offset != 0 && offset < bytes_ && count <= (bytes_ - offset) / sizeof(T);
    return is_within ? reinterpret_cast<T*>(base_ + offset) : nullptr;
  }

  // A directory of the header, by its index there; empty if there is none.
  struct Directory {
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  [[nodiscard]] Directory directory(std::uint32_t index) const;
  // Where the header has it; nullptr if there is none.
  [[nodiscard]] Directory* PlaceOfDirectory(std::uint32_t index) const;

  // Returns the section with this name, which has at most 8 letters; empty if there is none.
  [[nodiscard]] Directory FindSection(const char* name) const;

 private:
  std::uint64_t base_;
  std::uint32_t bytes_ = 0;  // of the image
  std::uint32_t header_ = 0;
};

}  // namespace leakgate::agent
