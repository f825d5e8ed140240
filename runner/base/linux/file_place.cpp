#include "runner/base/linux/file_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <deque>
#include <string>
#include <system_error>
#include <utility>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// The path by which an unprivileged process may link an open file.
std::string OpenFilePath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

constexpr int kMostLinks = 40;             // on the way to a file: the kernel's limit
constexpr int kLook = O_PATH | O_CLOEXEC;  // needs no rights to the file, and does not act on it

tl::unexpected<PlaceProblem> Problem(std::string cause, std::string remedy) {
  return tl::unexpected(PlaceProblem{std::move(cause), std::move(remedy)});
}

tl::unexpected<PlaceProblem> ErrnoProblem(int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Problem("its directory does not exist", "create it first");
  }
  return Problem(ErrnoText(error),
                 "make its directory writable with room for it, or name another file");
}

tl::unexpected<PlaceProblem> PlantedProblem(const struct stat& entry) {
  return Problem(fmt::format("it is another user's {}, in a directory that all may write",
                             S_ISLNK(entry.st_mode) ? "link" : "file"),
                 "write it elsewhere");
}

// Returns whether another user may have put `entry` into `directory` to have others write to it.
bool IsPlanted(int directory, const struct stat& entry) {
  constexpr mode_t kForAll = S_ISVTX | S_IWOTH;
  struct stat around {};
  if (::fstat(directory, &around) != 0) return true;
  return (around.st_mode & kForAll) == kForAll && entry.st_uid != ::geteuid() &&
         entry.st_uid != around.st_uid;
}

bool IsOfProc(int directory) {
  struct statfs facts {};
  return ::fstatfs(directory, &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC;
}

// Opens the directory that the walk along `path` begins in.
UniqueFd OpenStart(const std::string& path) {
  return UniqueFd(::open(path.starts_with('/') ? "/" : ".", kLook | O_DIRECTORY));
}

// Puts the parts of `path` in front of `rest`. A slash at the end means a directory, so "a/" is
// taken for "a/.".
void PrependParts(const std::string& path, std::deque<std::string>& rest) {
  std::deque<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end != begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (path.ends_with('/')) parts.emplace_back(".");
  rest.insert(rest.begin(), parts.begin(), parts.end());
}

// Returns an empty text on failure.
std::string ReadLinkTarget(const UniqueFd& link) {
  char target[PATH_MAX];
  const ssize_t length = ::readlinkat(link.get(), "", target, sizeof(target));
  return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
}

bool IsOfUserOrRoot(const struct stat& facts) {
  return facts.st_uid == ::geteuid() || facts.st_uid == 0;
}

// Returns whether nobody but the user and root can exchange what these two have in `directory`.
// A group that may write there is often the user's own; not so where the user is root.
bool KeepsEntries(const struct stat& directory) {
  const mode_t others = ::geteuid() == 0 ? S_IWGRP | S_IWOTH : S_IWOTH;
  const bool has_writers = (directory.st_mode & others) != 0;
  return IsOfUserOrRoot(directory) && (!has_writers || (directory.st_mode & S_ISVTX) != 0);
}

// Sleeps for 20 ms. Returns false, without sleeping, if a signal that asks this process to end is
// pending but blocked.
bool SleepUnlessAskedToEnd() {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    if (::sigismember(&pending, signal) == 1) return false;
  }
  const timespec bit{0, 20'000'000};
  ::nanosleep(&bit, nullptr);
  return true;
}

}  // namespace

UniqueFd OpenUnnamedFile(int directory, mode_t mode) {
  UniqueFd file(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (file && ::access(OpenFilePath(file.get()).c_str(), F_OK) != 0) return UniqueFd();
  return file;
}

std::error_code LinkUnnamedFile(int fd, int directory, const std::string& name) {
  const int result =
      ::linkat(AT_FDCWD, OpenFilePath(fd).c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW);
  return result == 0 ? std::error_code() : LastErrorCode();
}

UniqueFd CreateNewFile(int directory, const std::string& name, mode_t mode) {
  return UniqueFd(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
}

std::error_code CopyToNewFile(int fd, int directory, const std::string& name) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return LastErrorCode();
  const UniqueFd copy = CreateNewFile(directory, name, facts.st_mode & S_IRWXU);
  if (!copy) return LastErrorCode();
  CopyRights(facts, copy.get());
  char bytes[1 << 16];
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(fd, bytes, sizeof(bytes), at)) != 0;) {
    if (count < 0) return LastErrorCode();
    const ssize_t written = ::write(copy.get(), bytes, static_cast<std::size_t>(count));
    if (written < 0) return LastErrorCode();
    at += written;
  }
  return {};
}

bool IsOfUserAlone(const struct stat& facts) {
  return facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

UniqueFd OpenOwnFolder(const fs::path& path, MissingFolders missing) {
  constexpr std::size_t kMostMade = 3;
  constexpr mode_t kUserAlone = S_IRWXU;
  std::deque<std::string> rest;
  PrependParts(path.string(), rest);
  UniqueFd folder = OpenStart("/");
  struct stat facts {};
  for (int links = 0; folder && ::fstat(folder.get(), &facts) == 0 && S_ISDIR(facts.st_mode);) {
    if (rest.empty()) return IsOfUserAlone(facts) ? std::move(folder) : UniqueFd();
    if (!KeepsEntries(facts)) break;
    const std::string part = std::exchange(rest.front(), {});
    rest.pop_front();
    UniqueFd found(::openat(folder.get(), part.c_str(), kLook | O_NOFOLLOW));
    if (!found && errno == ENOENT && missing == MissingFolders::kMade && rest.size() < kMostMade) {
      ::mkdirat(folder.get(), part.c_str(), kUserAlone);  // or another process has made it
      found = UniqueFd(::openat(folder.get(), part.c_str(), kLook | O_NOFOLLOW));
    }
    if (!found || ::fstat(found.get(), &facts) != 0) break;
    if (!S_ISLNK(facts.st_mode)) {
      folder = std::move(found);
      continue;
    }
    if (rest.empty() || !IsOfUserOrRoot(facts) || ++links > kMostLinks) break;
    const std::string target = ReadLinkTarget(found);
    if (target.starts_with('/')) folder = OpenStart(target);
    PrependParts(target, rest);
  }
  return {};
}

void CopyRights(const struct stat& replaced, int fd) {
  constexpr gid_t kAsItIs = static_cast<gid_t>(-1);
  mode_t mode = replaced.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  const bool has_group = ::fchown(fd, replaced.st_uid, replaced.st_gid) == 0 ||
                         ::fchown(fd, kAsItIs, replaced.st_gid) == 0;
  // If the file stays with another group, that group gets the rights of everybody.
  if (!has_group) mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | ((mode & S_IRWXO) << 3);
  ::fchmod(fd, mode);
}

tl::expected<FilePlace, PlaceProblem> FilePlace::Find(const fs::path& path, Use use) {
  std::deque<std::string> rest;
  PrependParts(path.string(), rest);
  UniqueFd directory = OpenStart(path.string());
  for (int links = 0; directory && !rest.empty();) {
    const std::string part = std::exchange(rest.front(), {});
    rest.pop_front();
    if (part == ".") continue;
    UniqueFd found(::openat(directory.get(), part.c_str(), kLook | O_NOFOLLOW));
    if (!found && errno == ENOENT && rest.empty()) {
      return FilePlace(std::move(directory), part, std::nullopt, Entry::kItself);
    }
    struct stat facts {};
    if (!found || ::fstat(found.get(), &facts) != 0) return ErrnoProblem(errno);
    Entry entry = Entry::kItself;
    if (S_ISLNK(facts.st_mode)) {
      if (IsPlanted(directory.get(), facts)) return PlantedProblem(facts);
      if (++links > kMostLinks) return ErrnoProblem(ELOOP);
      if (!IsOfProc(directory.get())) {
        const std::string target = ReadLinkTarget(found);
        if (target.starts_with('/')) directory = OpenStart(target);
        PrependParts(target, rest);
        continue;
      }
      // Only the kernel knows where a link in /proc leads.
      entry = Entry::kLinkOfKernel;
      found = UniqueFd(::openat(directory.get(), part.c_str(), kLook));
      if (!found || ::fstat(found.get(), &facts) != 0) return ErrnoProblem(errno);
    }
    if (S_ISDIR(facts.st_mode)) {
      directory = std::move(found);
      continue;
    }
    if (!rest.empty()) return ErrnoProblem(ENOTDIR);
    if (use == Use::kWrite && IsPlanted(directory.get(), facts)) return PlantedProblem(facts);
    return FilePlace(std::move(directory), part, facts, entry);
  }
  if (!directory) return ErrnoProblem(errno);
  return Problem("it is a directory", "name a file in it");
}

bool FilePlace::IsWrittenDirectly() const {
  return occupant_ && (!S_ISREG(occupant_->st_mode) || entry_ == Entry::kLinkOfKernel);
}

tl::expected<UniqueFd, PlaceProblem> FilePlace::OpenToAppend(mode_t mode) const {
  int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  if (entry_ == Entry::kItself) flags |= O_NOFOLLOW;
  if (!occupant_) flags |= O_CREAT;
  const bool is_fifo = entry_ == Entry::kItself && occupant_ && S_ISFIFO(occupant_->st_mode);
  for (;;) {
    UniqueFd file(::openat(directory(), name_.c_str(), flags, mode));
    struct stat facts {};
    if (file && ::fstat(file.get(), &facts) == 0) {
      // Another file may have replaced the occupant since Find.
      if (IsPlanted(directory(), facts)) return PlantedProblem(facts);
      ::fcntl(file.get(), F_SETFL, O_APPEND);  // from now on, writing waits for readers
      return file;
    }
    if (!is_fifo || errno != ENXIO) {
      return Problem(ErrnoText(), "make it writable or name another file");
    }
    if (!SleepUnlessAskedToEnd()) {
      return Problem("nobody reads it, and leakgate was told to end", "have it read");
    }
  }
}

bool FilePlace::IsSiblingPlanted(std::string_view suffix) const {
  struct stat facts {};
  const std::string name = name_ + std::string(suffix);
  return ::fstatat(directory(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         IsPlanted(directory(), facts);
}

fs::path FilePlace::CanonicalPath() const {
  std::error_code error;
  const fs::path parent = fs::read_symlink(OpenFilePath(directory()), error);
  return error ? fs::path() : parent / name_;
}

}  // namespace leakgate
