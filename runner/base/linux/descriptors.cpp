#include "runner/base/descriptors.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

void Mapping::ReleasePages() const {
  if (begin_ != nullptr) ::madvise(begin_, bytes_, MADV_DONTNEED);
}

Mapping::Mapping(Mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

int OwnPid() { return ::getpid(); }

unsigned EffectiveUser() { return ::geteuid(); }

std::optional<unsigned> FindUser(const std::string& name) {
  const passwd* const user = ::getpwnam(name.c_str());
  return user == nullptr ? std::nullopt : std::optional<unsigned>(user->pw_uid);
}

std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within) {
  std::vector<FileRange> ranges;
  for (std::uint64_t at = within.begin; at < within.end;) {
    const off_t data = ::lseek(fd.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return ranges;  // there is no page from `at` on
    if (data < 0) return {within};
    const auto begin = static_cast<std::uint64_t>(data);
    if (begin >= within.end) return ranges;
    const off_t hole = ::lseek(fd.get(), data, SEEK_HOLE);
    if (hole < 0) return {within};
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(hole), within.end);
    ranges.push_back({begin, end});
    at = end;
  }
  return ranges;
}

std::FILE* OpenStdioFile(UniqueFd file, const char* mode) {
  if (!file) return nullptr;
  std::FILE* const opened = ::fdopen(file.get(), mode);
  if (opened != nullptr) (void)file.Release();
  return opened;
}

}  // namespace leakgate
