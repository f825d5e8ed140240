// A shared mapping of a descriptor, unmapped when it goes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/util/expected.h"
#include "runner/util/linux/unique_fd.h"

namespace leakgate {

enum class MappingAccess { kReadOnly, kReadWrite };

class Mapping {
 public:
  // `offset` and `bytes` in whole pages. Fails when the address space is short.
  [[nodiscard]] static Expected<Mapping> Map(const UniqueFd& fd, std::uint64_t offset,
                                             std::size_t bytes, MappingAccess access);

  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return begin_; }
  std::size_t size() const { return bytes_; }

 private:
  Mapping(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace leakgate
