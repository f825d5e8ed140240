#include "runner/reach/linux/kernel_queues.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::size_t kPointerBytes = sizeof(std::uint64_t);
constexpr std::size_t kMostQueuedBytes = 1 << 20;    // of one pipe, socket or message
constexpr std::size_t kMostFileBytes = 16 << 20;     // of all files
constexpr std::size_t kMostDescriptorsAsked = 4096;  // more are left out
constexpr long kMessageQueueMagic = 0x1980'0202;     // statfs(2)

// A message may have anything in front of the pointer.
std::vector<std::uint64_t> WordsIn(const std::vector<char>& bytes) {
  std::vector<std::uint64_t> words;
  for (std::size_t at = 0; at + kPointerBytes <= bytes.size(); ++at) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof(word));
    if (word != 0) words.push_back(word);
  }
  return words;
}

std::optional<std::uint64_t> FieldOf(const std::string& fdinfo, std::string_view name, int base) {
  const std::size_t at = fdinfo.find(name);
  if (at == std::string::npos) return std::nullopt;
  const char* begin = fdinfo.data() + at + name.size();
  const char* const end = fdinfo.data() + fdinfo.size();
  while (begin != end && (*begin == ' ' || *begin == '\t')) ++begin;
  std::uint64_t value = 0;
  return std::from_chars(begin, end, value, base).ec == std::errc{} ? std::optional(value)
                                                                    : std::nullopt;
}

struct OpenDescriptor {
  int number = 0;
  std::string target;  // what its link leads to
  std::string info;    // the text of its fdinfo
  bool is_readable = false;
  bool is_writable = false;
};

std::vector<OpenDescriptor> DescriptorsOf(int pid) {
  std::vector<OpenDescriptor> found;
  std::error_code error;
  std::filesystem::directory_iterator entries(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (found.size() == kMostDescriptorsAsked) break;
    std::error_code unreadable;
    OpenDescriptor one;
    one.target = std::filesystem::read_symlink(entries->path(), unreadable).string();
    const std::string number = entries->path().filename().string();
    std::from_chars(number.data(), number.data() + number.size(), one.number);
    const auto info = ReadProcFile(fmt::format("/proc/{}/fdinfo/{}", pid, number));
    if (!info) continue;
    one.info = *info;
    const std::uint64_t access = FieldOf(one.info, "flags:", 8).value_or(O_WRONLY) & O_ACCMODE;
    one.is_readable = access != O_WRONLY;
    one.is_writable = access != O_RDONLY;
    found.push_back(std::move(one));
  }
  return found;
}

class QueueFinder {
 public:
  QueueFinder(int pid, const std::vector<FrozenThread>& threads)
      : pid_(pid),
        threads_(threads),
        process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

  KernelQueues Find() {
    for (const OpenDescriptor& one : DescriptorsOf(pid_)) Look(one);
    LookAtMessageQueues();
    LookAtSignals();
    return std::move(found_);
  }

 private:
  void Add(std::string name, std::vector<std::uint64_t> words) {
    if (!words.empty()) found_.read.push_back({std::move(name), std::move(words), true});
  }

  // The program's own file, not opened again. Empty if the kernel does not allow it.
  [[nodiscard]] UniqueFd Duplicate(int number) const {
#ifdef SYS_pidfd_getfd
    return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), number, 0)));
#else
    return {};
#endif
  }

  // Each file once, whatever the number of its descriptors.
  void Look(const OpenDescriptor& one) {
    if (one.target.starts_with("anon_inode:")) return LookAtAnonymous(one);
    if (!one.is_readable || !seen_.insert(one.target).second) return;
    const bool is_pipe = one.target.starts_with("pipe:");
    const bool is_socket = one.target.starts_with("socket:");
    if (!is_pipe && !is_socket && !one.target.starts_with("/")) return;
    const UniqueFd file = Duplicate(one.number);
    if (!file) return;
    if (is_pipe) return LookAtPipe(one, file);
    if (is_socket) return LookAtSocket(one, file);
    LookAtFile(one, file);
  }

  [[nodiscard]] static std::size_t WaitingIn(const UniqueFd& file) {
    int bytes = 0;
    return ::ioctl(file.get(), FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes)
                                                                   : 0;
  }

  void LookAtPipe(const OpenDescriptor& one, const UniqueFd& pipe) {
    const std::size_t waiting = WaitingIn(pipe);
    if (waiting < kPointerBytes) return;
    const std::string name = fmt::format("pipe of descriptor {}", one.number);
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return found_.unread.push_back(name);
    const UniqueFd out(ends[0]);
    const UniqueFd in(ends[1]);
    const int capacity = ::fcntl(pipe.get(), F_GETPIPE_SZ);
    if (capacity > 0) (void)::fcntl(in.get(), F_SETPIPE_SZ, capacity);
    const ssize_t copied = ::tee(pipe.get(), in.get(), INT_MAX, SPLICE_F_NONBLOCK);
    std::vector<char> bytes(copied > 0 ? static_cast<std::size_t>(copied) : 0);
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = ::read(out.get(), &bytes[filled], bytes.size() - filled);
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    Add(name, WordsIn(bytes));
    if (filled + kPointerBytes <= waiting) found_.unread.push_back(name);
  }

  // An error that waits there would be taken by whoever receives next. A program that peeks by
  // offset would find that moved.
  [[nodiscard]] static bool MayPeek(const UniqueFd& socket) {
    pollfd state{socket.get(), POLLIN, 0};
    if (::poll(&state, 1, 0) != 1 || (state.revents & POLLERR) != 0) return false;
    int offset = -1;
    socklen_t size = sizeof(offset);
    const bool has_offset =
        ::getsockopt(socket.get(), SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == 0 && offset >= 0;
    return !has_offset;
  }

  [[nodiscard]] static int TypeOf(const UniqueFd& socket) {
    int type = 0;
    socklen_t size = sizeof(type);
    (void)::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size);
    return type;
  }

  void LookAtSocket(const OpenDescriptor& one, const UniqueFd& socket) {
    const std::size_t waiting = WaitingIn(socket);
    if (waiting < kPointerBytes) return;
    const std::string name = fmt::format("socket of descriptor {}", one.number);
    if (!MayPeek(socket)) return found_.unread.push_back(name);
    std::vector<char> bytes(kMostQueuedBytes);
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    Add(name, WordsIn(bytes));
    // Only the first message can be seen, and of datagrams only its length is told.
    const bool has_more = TypeOf(socket) == SOCK_DGRAM || bytes.size() + kPointerBytes <= waiting;
    if (has_more) found_.unread.push_back(name);
  }

  // What the process has written there, and may read again.
  void LookAtFile(const OpenDescriptor& one, const UniqueFd& file) {
    struct statfs system {};
    if (::fstatfs(file.get(), &system) != 0) return;
    if (system.f_type == kMessageQueueMagic) return LookAtMessages(one, file);
    struct stat facts {};
    if (!one.is_writable || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    if (facts.st_size <= 0) return;
    std::vector<char> bytes(std::min(static_cast<std::size_t>(facts.st_size), file_bytes_left_));
    file_bytes_left_ -= bytes.size();
    const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    Add(fmt::format("file of descriptor {}", one.number), WordsIn(bytes));
  }

  void LookAtMessages(const OpenDescriptor& one, const UniqueFd& queue) {
    char text[256] = {};
    if (::pread(queue.get(), text, sizeof(text) - 1, 0) <= 0) return;
    if (FieldOf(text, "QSIZE:", 10).value_or(0) < kPointerBytes) return;
    found_.unread.push_back(fmt::format("message queue of descriptor {}", one.number));
  }

  void LookAtAnonymous(const OpenDescriptor& one) {
    if (one.target == "anon_inode:[eventfd]") {
      const std::uint64_t count = FieldOf(one.info, "eventfd-count:", 16).value_or(0);
      if (count != 0) Add(fmt::format("eventfd {}", one.number), {count});
    }
    if (one.target == "anon_inode:[io_uring]") {
      const auto begun = FieldOf(one.info, "CachedSqHead:", 10);
      const auto ended = FieldOf(one.info, "CachedCqTail:", 10);
      if (begun && ended && *begun != *ended) {
        found_.unread.push_back(fmt::format("io_uring of descriptor {}", one.number));
      }
    }
  }

  // System V's: /proc/sysvipc/msg names the process that has sent last.
  void LookAtMessageQueues() {
    const auto table = ReadProcFile("/proc/sysvipc/msg");
    if (!table) return;
    std::istringstream lines(*table);
    std::string line;
    std::getline(lines, line);  // the titles
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string key, permissions;
      std::size_t bytes = 0, messages = 0;
      int id = 0, sender = 0;
      if (!(fields >> key >> id >> permissions >> bytes >> messages >> sender)) continue;
      if (sender == pid_ && bytes >= kPointerBytes) LookAtMessageQueue(id, messages);
    }
  }

  void LookAtMessageQueue(int id, std::size_t messages) {
    const std::string name = fmt::format("message queue {}", id);
    constexpr int kCopy = 040000;  // MSG_COPY, which not all systems' headers have
    constexpr std::size_t kMostMessages = 4096;
    std::vector<char> message(sizeof(long) + 65536);
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < std::min(messages, kMostMessages); ++i) {
      const ssize_t got = ::msgrcv(id, message.data(), message.size() - sizeof(long),
                                   static_cast<long>(i), kCopy | IPC_NOWAIT | MSG_NOERROR);
      if (got < 0) return found_.unread.push_back(name);
      const std::vector<char> text(message.begin() + sizeof(long),
                                   message.begin() + sizeof(long) + got);
      const std::vector<std::uint64_t> more = WordsIn(text);
      words.insert(words.end(), more.begin(), more.end());
    }
    Add(name, std::move(words));
  }

  // Returns false if they cannot be asked for: the thread is not stopped by this one.
  bool TakeSignals(int tid, unsigned flags, std::vector<std::uint64_t>& words) {
    siginfo_t signals[32] = {};
    __ptrace_peeksiginfo_args from{0, flags, 32};
    for (;;) {
      const long got = ::ptrace(PTRACE_PEEKSIGINFO, tid, &from, signals);
      if (got < 0) return false;
      for (long i = 0; i < got; ++i) {
        const auto word = reinterpret_cast<std::uint64_t>(signals[i].si_value.sival_ptr);
        if (signals[i].si_code < 0 && word != 0) words.push_back(word);
      }
      if (got < from.nr) return true;
      from.off += static_cast<std::uint64_t>(got);
    }
  }

  void LookAtSignals() {
    std::vector<std::uint64_t> words;
    bool are_shared_known = false;
    for (const FrozenThread& thread : threads_) {
      if (!TakeSignals(thread.tid, 0, words)) {
        if (HasPending(thread.tid, "SigPnd:")) found_.unread.emplace_back("pending signals");
        continue;
      }
      are_shared_known =
          are_shared_known || TakeSignals(thread.tid, PTRACE_PEEKSIGINFO_SHARED, words);
    }
    if (!are_shared_known && HasPending(pid_, "ShdPnd:")) {
      found_.unread.emplace_back("pending signals");
    }
    Add("pending signals", std::move(words));
  }

  [[nodiscard]] bool HasPending(int tid, std::string_view name) const {
    const auto status = ReadProcFile(fmt::format("/proc/{}/task/{}/status", pid_, tid));
    return status && FieldOf(*status, name, 16).value_or(0) != 0;
  }

  const int pid_;
  const std::vector<FrozenThread>& threads_;
  const UniqueFd process_;
  std::set<std::string> seen_;  // by target
  std::size_t file_bytes_left_ = kMostFileBytes;
  KernelQueues found_;
};

}  // namespace

KernelQueues FindKernelQueues(int pid, const std::vector<FrozenThread>& threads) {
  return QueueFinder(pid, threads).Find();
}

}  // namespace leakgate
