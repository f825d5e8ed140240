#include "runner/run/scratch_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <sstream>
#include <string_view>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

bool WriteTo(const char* path, std::string_view text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return is_written;
}

// An overlay shows nothing of what is mounted below a directory. The fifth field of a line is the
// place of a mount, with what is no plain character in octal.
bool HasMountsBelow(const std::string& directory) {
  const auto text = ReadProcFile("/proc/self/mountinfo");
  if (!text) return true;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 5; ++i) fields >> field;
    if (field.starts_with(directory + '/')) return true;
  }
  return false;
}

std::atomic<bool> was_refused{false};

// The kernel takes these for its own in the options of a mount.
bool IsPlain(const std::string& path) {
  return path.find_first_of(",:\\ \t\n\"") == std::string::npos;
}

}  // namespace

std::optional<ScratchCopy> ScratchCopy::OfWorkingDirectory(const std::filesystem::path& scratch) {
  if (was_refused.load()) return std::nullopt;
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::current_path(error);
  struct stat facts {};
  if (error || directory == directory.root_path() || ::stat(directory.c_str(), &facts) != 0) {
    return std::nullopt;
  }
  ScratchCopy copy;
  copy.directory_ = directory.string();
  copy.memory_ = (scratch / "written").string();
  copy.upper_ = copy.memory_ + "/upper";
  copy.work_ = copy.memory_ + "/work";
  copy.mode_ = facts.st_mode & 07777;
  copy.user_ = facts.st_uid;
  copy.group_ = facts.st_gid;
  copy.options_ =
      fmt::format("lowerdir={},upperdir={},workdir={}", copy.directory_, copy.upper_, copy.work_);
  const uid_t user = ::geteuid();
  if (user != 0) {
    copy.user_map_ = fmt::format("{0} {0} 1", user);
    copy.group_map_ = fmt::format("{0} {0} 1", ::getegid());
    copy.options_ += ",userxattr";
  }
  const bool may_be = IsPlain(copy.directory_) && IsPlain(copy.memory_) &&
                      !HasMountsBelow(copy.directory_) &&
                      std::filesystem::create_directory(copy.memory_, error);
  return may_be ? std::optional(copy) : std::nullopt;
}

void ScratchCopy::NoteRefusal() { was_refused.store(true); }

bool ScratchCopy::EnterNamespaces() const noexcept {
  if (user_map_.empty()) return ::unshare(CLONE_NEWNS) == 0;
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && WriteTo("/proc/self/setgroups", "deny") &&
         WriteTo("/proc/self/uid_map", user_map_) && WriteTo("/proc/self/gid_map", group_map_);
}

bool ScratchCopy::Enter() const noexcept {
  if (!EnterNamespaces()) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("tmpfs", memory_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    return false;
  }
  if (::mkdir(upper_.c_str(), 0700) != 0 || ::mkdir(work_.c_str(), 0700) != 0) return false;
  // The copy has the rights of this directory.
  if (user_map_.empty() && ::chown(upper_.c_str(), user_, group_) != 0) return false;
  if (::chmod(upper_.c_str(), mode_) != 0) return false;
  return ::mount("overlay", directory_.c_str(), "overlay", 0, options_.c_str()) == 0 &&
         ::chdir(directory_.c_str()) == 0;
}

ScratchDirectory ScratchDirectory::In(const std::string& parent) {
  std::string path = parent + "/leakgate-XXXXXX";
  return ScratchDirectory(::mkdtemp(path.data()) != nullptr ? path : std::string());
}

}  // namespace leakgate
