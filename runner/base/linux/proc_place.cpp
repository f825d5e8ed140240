#include "runner/base/linux/proc_place.h"

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <string_view>
#include <utility>

namespace leakgate {
namespace {

UniqueFd& OwnProc() {
  static UniqueFd proc;
  return proc;
}

}  // namespace

void UseOwnProc() {
  const UniqueFd made(static_cast<int>(::syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC)));
  const bool is_made =
      made && ::syscall(SYS_fsconfig, made.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  if (!is_made) return;
  OwnProc() = UniqueFd(static_cast<int>(
      ::syscall(SYS_fsmount, made.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)));
}

int OwnProcDescriptor() { return OwnProc().get(); }

ProcPlace::ProcPlace(std::string path) : path_(std::move(path)) {
  constexpr std::string_view kProc = "/proc";
  const bool is_of_proc =
      path_.starts_with(kProc) && (path_.size() == kProc.size() || path_[kProc.size()] == '/');
  if (!OwnProc() || !is_of_proc) return;
  directory_ = OwnProc().get();
  begin_ = path_.find_first_not_of('/', kProc.size());
  if (begin_ != std::string::npos) return;
  path_ = ".";
  begin_ = 0;
}

UniqueFd OpenPlaceOf(const std::string& path, int access) {
  const ProcPlace place(path);
  return UniqueFd(::openat(place.directory(), place.name(), access | O_CLOEXEC));
}

UniqueFd OpenSharedPlaceOf(const std::string& path, int access) {
  return UniqueFd(::open(path.c_str(), access | O_CLOEXEC));
}

std::optional<struct stat> StatPlaceOf(const std::string& path) {
  const ProcPlace place(path);
  struct stat facts {};
  if (::fstatat(place.directory(), place.name(), &facts, 0) != 0) return std::nullopt;
  return facts;
}

std::string ReadLinkOf(const std::string& path) {
  const ProcPlace place(path);
  char target[PATH_MAX];
  const ssize_t bytes = ::readlinkat(place.directory(), place.name(), target, sizeof(target));
  return {target, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

}  // namespace leakgate
