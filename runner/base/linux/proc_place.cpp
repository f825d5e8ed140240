#include "runner/base/linux/proc_place.h"

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <string_view>

namespace leakgate {
namespace {

UniqueFd& OwnProc() {
  static UniqueFd proc;
  return proc;
}

// A path in the form in which openat(2) and other calls take it.
class ProcPlace {
 public:
  // REQUIRES: `path` lives as long as this.
  explicit ProcPlace(const std::string& path) : name_(path.c_str()) {
    constexpr std::string_view kProc = "/proc";
    const bool is_of_proc =
        path.starts_with(kProc) && (path.size() == kProc.size() || path[kProc.size()] == '/');
    if (!OwnProc() || !is_of_proc) return;
    const std::size_t begin = path.find_first_not_of('/', kProc.size());
    directory_ = OwnProc().get();
    name_ = begin == std::string::npos ? "." : name_ + begin;
  }

  int directory() const { return directory_; }
  const char* name() const { return name_; }

 private:
  int directory_ = AT_FDCWD;
  const char* name_;
};

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

std::optional<struct statx> StatKnownOf(const std::string& path) {
  const ProcPlace place(path);
  struct statx facts {};
  constexpr int kHow = AT_STATX_DONT_SYNC;
  if (::statx(place.directory(), place.name(), kHow, STATX_TYPE, &facts) != 0) return std::nullopt;
  return facts;
}

std::string ReadLinkOf(const std::string& path) {
  const ProcPlace place(path);
  char target[PATH_MAX];
  const ssize_t bytes = ::readlinkat(place.directory(), place.name(), target, sizeof(target));
  return {target, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

}  // namespace leakgate
