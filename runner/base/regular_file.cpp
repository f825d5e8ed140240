#include "runner/base/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <streambuf>
#include <vector>

namespace leakgate {
namespace {

// The other values are those of S_IFMT.
constexpr int kTooLarge = 1;
constexpr int kNotAccepted = 2;

const char* KindText(int kind) {
  switch (kind) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "something else";
  }
}

class UnfitFileCategory : public std::error_category {
 public:
  const char* name() const noexcept override { return "unfit file"; }
  std::string message(int value) const override {
    if (value == kTooLarge) return "it is too large for what it should be";
    if (value == kNotAccepted) return "its name is not one of those to be read";
    return fmt::format("it is {}, not a regular file", KindText(value));
  }
};

tl::unexpected<std::error_code> Unfit(int value) {
  static const UnfitFileCategory category;
  return tl::unexpected(std::error_code(value, category));
}

tl::unexpected<std::error_code> LastError() {
  return tl::unexpected(std::error_code(errno, std::generic_category()));
}

class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(UniqueFd file) : file_(std::move(file)), bytes_(kBytes) {}

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    ssize_t count = 0;
    do {
      count = ::read(file_.get(), bytes_.data(), bytes_.size());
    } while (count < 0 && errno == EINTR);
    // The stream takes it, and is bad from then on.
    if (count < 0) throw std::ios_base::failure("read", LastError().value());
    if (count == 0) return traits_type::eof();
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return traits_type::to_int_type(*gptr());
  }

 private:
  static constexpr std::size_t kBytes = 1 << 16;

  const UniqueFd file_;
  std::vector<char> bytes_;
};

class FileStream : private FileBuffer, public std::istream {
 public:
  explicit FileStream(UniqueFd file)
      : FileBuffer(std::move(file)), std::istream(static_cast<FileBuffer*>(this)) {}
};

// The C library's function changes the groups of all threads; this one of the caller's alone.
void SetGroupsOfThread(const std::vector<gid_t>& groups) {
  ::syscall(SYS_setgroups, groups.size(), groups.data());
}

constexpr unsigned kAsk = static_cast<unsigned>(-1);  // is no user: tells, and changes nothing

}  // namespace

tl::expected<UniqueFd, std::error_code> OpenRegularFile(const std::filesystem::path& path) {
  return OpenRegularFileIf(path, [](const std::string&) { return true; });
}

tl::expected<UniqueFd, std::error_code> OpenRegularFileIf(const std::filesystem::path& path,
                                                          const AcceptsName& accepts) {
  // This opens nothing yet: no device acts, and no FIFO's writer takes it for a reader.
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat facts {};
  if (!place || ::fstat(place.get(), &facts) != 0) return LastError();
  if (!S_ISREG(facts.st_mode)) return Unfit(static_cast<int>(facts.st_mode & S_IFMT));
  const std::string link = fmt::format("/proc/self/fd/{}", place.get());
  std::error_code error;
  const std::string name = std::filesystem::read_symlink(link, error);
  if (error) return tl::unexpected(error);
  if (!accepts(name)) return Unfit(kNotAccepted);
  // Some of the kernel's regular files have who reads them wait; not without O_NONBLOCK.
  UniqueFd file(::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return LastError();
  return file;
}

tl::expected<std::string, std::error_code> ReadToEnd(const UniqueFd& file,
                                                     std::uint64_t most_bytes) {
  std::string text;
  char part[1 << 14];
  for (;;) {
    const ssize_t count = ::read(file.get(), part, sizeof(part));
    if (count == 0) return text;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return LastError();
    if (text.size() > most_bytes) return Unfit(kTooLarge);
  }
}

tl::expected<std::string, std::error_code> ReadRegularFile(const std::filesystem::path& path,
                                                           std::uint64_t most_bytes) {
  const auto file = OpenRegularFile(path);
  if (!file) return tl::unexpected(file.error());
  return ReadToEnd(*file, most_bytes);
}

std::unique_ptr<std::istream> StreamOf(UniqueFd file) {
  return std::make_unique<FileStream>(std::move(file));
}

bool IsRegularOrMissing(const std::filesystem::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

FileRights::FileRights(uid_t uid, gid_t gid) : differ_(::geteuid() == 0 && uid != 0) {
  if (!differ_) return;
  // The kernel forbids others to look into a process whose rights differ.
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  const int count = ::getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count > 0 && ::getgroups(count, groups_.data()) != count) groups_.clear();
  SetGroupsOfThread({});
  ::setfsgid(gid);
  ::setfsuid(uid);  // last: takes root's rights to files away
  hold_ =
      static_cast<uid_t>(::setfsuid(kAsk)) == uid && static_cast<gid_t>(::setfsgid(kAsk)) == gid;
}

FileRights::~FileRights() {
  if (!differ_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  SetGroupsOfThread(groups_);
  ::prctl(PR_SET_DUMPABLE, dumpable_);
}

}  // namespace leakgate
