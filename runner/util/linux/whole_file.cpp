#include "runner/util/linux/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {
namespace {

tl::unexpected<std::error_code> LastError() {
  return tl::unexpected(std::error_code(errno, std::generic_category()));
}

}  // namespace

tl::expected<std::string, std::error_code> ReadWholeFile(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return LastError();
  std::string text;
  char part[1 << 14];
  for (;;) {
    const ssize_t count = ::read(file.get(), part, sizeof(part));
    if (count == 0) return text;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return LastError();
  }
}

}  // namespace leakgate
