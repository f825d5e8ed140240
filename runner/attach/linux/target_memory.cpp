#include "runner/attach/linux/target_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runner/attach/linux/held_thread.h"
#include "runner/base/descriptors.h"
#include "runner/process/memory_layout.h"
#include "runner/process/proc_files.h"

namespace leakgate {

Expected<TargetMemory> TargetMemory::Open(int pid) {
  UniqueFd fd = OpenProcFile(pid, "mem", O_RDWR);
  if (!fd && (errno == EACCES || errno == EPERM)) return Unexpected(StopError(pid, EPERM));
  if (!fd && (errno == ENOENT || errno == ESRCH)) {
    return EndedError(pid);
  }
  if (!fd) {
    return InconclusiveError(
        fmt::format("cannot reach into the memory of PID {}: {}", pid, ErrnoText()));
  }
  return TargetMemory(pid, std::move(fd));
}

std::optional<Error> TargetMemory::WhyGone() const {
  if (HasNoMemory(pid_)) return EndedError(pid_).value();
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid_);
  if (!maps) return std::nullopt;  // not ours to see
  const bool is_there = std::any_of(maps->begin(), maps->end(), [this](const MappedRange& range) {
    return range.is_readable && Get<char>(range.begin).has_value();
  });
  if (is_there) return std::nullopt;
  return Error{fmt::format("PID {} has executed another program meanwhile; try again", pid_)};
}

bool TargetMemory::Read(std::uint64_t address, void* to, std::size_t bytes) const {
  return ::pread(fd_.get(), to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

bool TargetMemory::Write(std::uint64_t address, const void* from, std::size_t bytes) const {
  return ::pwrite(fd_.get(), from, bytes, static_cast<off_t>(address)) ==
         static_cast<ssize_t>(bytes);
}

}  // namespace leakgate
