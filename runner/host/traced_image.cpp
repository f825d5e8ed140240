#include "runner/host/traced_image.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace leakgate {
namespace {

constexpr std::size_t kMostReserved = 64;

}  // namespace

TracedImage::TracedImage(std::unique_ptr<RegionFile> region)
    : region_(std::move(region)),
      program_(ExecutedProgramOf(region_->pid())),
      end_(WatchEnd(region_->pid())) {}

TracedImage::TracedImage(std::unique_ptr<RegionFile> region, ExecutedProgram program)
    : region_(std::move(region)), program_(std::move(program)), end_(WatchEnd(region_->pid())) {}

UniqueFd TracedImage::DuplicateRegion() const {
  return UniqueFd(::fcntl(region_fd(), F_DUPFD_CLOEXEC, 0));
}

bool TracedImage::HasEnded() const { return leakgate::HasEnded(end_); }

// The kernel gives the lowest number that is free: those below it are in use.
bool DescriptorRoom::Has(std::size_t count) const {
  const int lowest = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0) return false;
  ::close(lowest);
  return static_cast<std::size_t>(lowest) + count + reserved <= limit;
}

DescriptorRoom OwnDescriptorRoom() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  return {most, std::min(kMostReserved, most / 2)};
}

}  // namespace leakgate
