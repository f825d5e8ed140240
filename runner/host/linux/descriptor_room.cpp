#include "runner/host/descriptor_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace leakgate {

// The kernel gives out the lowest free number, so all numbers below it are in use.
bool DescriptorRoom::Has(std::size_t count) const {
  const int lowest = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0) return false;
  ::close(lowest);
  return static_cast<std::size_t>(lowest) + count + reserved <= limit;
}

DescriptorRoom OwnDescriptorRoom() {
  constexpr std::size_t kMostReserved = 160;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  return {most, std::min(kMostReserved, most / 2)};
}

}  // namespace leakgate
