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

#include "runner/base/linux/proc_place.h"

namespace leakgate {
namespace {

// Values of UnfitFileCategory. Its other values are the file types of S_IFMT.
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

tl::unexpected<std::error_code> UnfitFile(int value) {
  static const UnfitFileCategory category;
  return tl::unexpected(std::error_code(value, category));
}

tl::unexpected<std::error_code> LastError() { return tl::unexpected(LastErrorCode()); }

// Opens what `place` is, which was opened by O_PATH: that does not open the file itself, so no
// device acts, and no writer of a FIFO sees a reader.
tl::expected<UniqueFd, std::error_code> OpenPlace(const UniqueFd& place,
                                                  const AcceptsName& accepts) {
  struct stat facts {};
  if (!place || ::fstat(place.get(), &facts) != 0) return LastError();
  if (!S_ISREG(facts.st_mode)) return UnfitFile(static_cast<int>(facts.st_mode & S_IFMT));
  const std::string link = fmt::format("/proc/self/fd/{}", place.get());
  if (accepts) {
    const std::string name = ReadLinkOf(link);
    if (name.empty()) return LastError();
    if (!accepts(name)) return UnfitFile(kNotAccepted);
  }
  // Reading some of the kernel's regular files waits for events, unless O_NONBLOCK is set.
  UniqueFd file = OpenPlaceOf(link, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return LastError();
  return file;
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
    // std::istream catches the exception, and sets its bad bit.
    if (count < 0) throw std::ios_base::failure("read", LastErrorCode());
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

// Changes the groups of the calling thread only; the C library's setgroups changes those of all
// threads.
void SetGroupsOfThread(const std::vector<gid_t>& groups) {
  ::syscall(SYS_setgroups, groups.size(), groups.data());
}

// No user has this number: setfsuid and setfsgid then change nothing, and return the current one.
constexpr unsigned kQuery = static_cast<unsigned>(-1);

}  // namespace

tl::expected<UniqueFd, std::error_code> OpenRegularFile(const std::filesystem::path& path) {
  return OpenRegularFileIf(path, {});
}

tl::expected<UniqueFd, std::error_code> OpenRegularFileIf(const std::filesystem::path& path,
                                                          const AcceptsName& accepts) {
  return OpenPlace(OpenPlaceOf(path, O_PATH), accepts);
}

tl::expected<UniqueFd, std::error_code> OpenRegularFileIn(const UniqueFd& directory,
                                                          const std::string& name) {
  return OpenPlace(
      UniqueFd(::openat(directory.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), {});
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
    if (text.size() > most_bytes) return UnfitFile(kTooLarge);
  }
}

tl::expected<std::string, std::error_code> ReadRegularFile(const std::filesystem::path& path,
                                                           std::uint64_t most_bytes) {
  const auto file = OpenRegularFile(path);
  if (!file) return tl::unexpected(file.error());
  return ReadToEnd(*file, most_bytes);
}

std::unique_ptr<std::istream> MakeInputStream(UniqueFd file) {
  return std::make_unique<FileStream>(std::move(file));
}

bool IsRegularOrMissing(const std::filesystem::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

FileRights::FileRights(unsigned uid, unsigned gid) : differ_(::geteuid() == 0 && uid != 0) {
  if (!differ_) return;
  // setfsuid makes the process not dumpable, which forbids others to look into it.
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  const int count = ::getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count > 0 && ::getgroups(count, groups_.data()) != count) groups_.clear();
  SetGroupsOfThread({});
  ::setfsgid(gid);
  ::setfsuid(uid);  // comes last, because it takes away root's rights to files
  are_in_force_ = static_cast<uid_t>(::setfsuid(kQuery)) == uid &&
                  static_cast<gid_t>(::setfsgid(kQuery)) == gid;
}

FileRights::~FileRights() {
  if (!differ_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  SetGroupsOfThread(groups_);
  ::prctl(PR_SET_DUMPABLE, dumpable_);
}

}  // namespace leakgate
