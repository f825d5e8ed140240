#include "runner/base/descriptors.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

namespace leakgate {

Expected<Mapping> Mapping::Map(const UniqueFd& fd, std::uint64_t offset, std::size_t bytes,
                               MappingAccess access) {
  const int protection = access == MappingAccess::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const mapped = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd.get(),
                              static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    return InconclusiveError(
        fmt::format("cannot map {} bytes of the shared region: {}; raise the limit on address "
                    "space (ulimit -v)",
                    bytes, ErrnoText()));
  }
  return Mapping(static_cast<std::byte*>(mapped), bytes);
}

Mapping::~Mapping() {
  if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace leakgate
