// Named pipes take the place of sockets. The pipe's owner, which only the system can have set, says
// that the other end is this user's; and nobody else may open it. A handle that comes with a
// message is duplicated into the receiving process, and the message tells its number.
#include "runner/host/message_socket.h"

#include "runner/base/nt/win32.h"
#include "runner/host/nt/message_pipe.h"
// They need <windows.h>.
#include <aclapi.h>
#include <fmt/format.h>
#include <sddl.h>

#include <algorithm>
#include <array>
#include <future>

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLongestMessage = std::size_t{64} << 20;
// The time for one end to send its message or to read the other's.
constexpr milliseconds kPatience(20'000);
// How often a pipe is looked at: no wait ends when somebody has written, or has gone.
constexpr DWORD kLookEachMs = 5;
// The member that tells the number of the handle that comes with a message.
constexpr char kHandle[] = "receivers_handle";

// This user, as the system writes it: "S-1-5-21-...".
std::string OwnUserText() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened)) return "";
  const UniqueFd token = OwnHandle(opened);
  std::array<std::byte, 256> user{};
  DWORD bytes = 0;
  char* text = nullptr;
  if (!GetTokenInformation(HandleOf(token), TokenUser, user.data(), user.size(), &bytes) ||
      !ConvertSidToStringSidA(reinterpret_cast<TOKEN_USER*>(user.data())->User.Sid, &text)) {
    return "";
  }
  std::string own = text;
  LocalFree(text);
  return own;
}

bool IsOwnUsers(const UniqueFd& pipe) {
  PSID owner = nullptr;
  PSECURITY_DESCRIPTOR facts = nullptr;
  if (GetSecurityInfo(HandleOf(pipe), SE_KERNEL_OBJECT, OWNER_SECURITY_INFORMATION, &owner, nullptr,
                      nullptr, nullptr, &facts) != ERROR_SUCCESS) {
    return false;
  }
  char* text = nullptr;
  const std::string own = OwnUserText();
  const bool is_own = !own.empty() && ConvertSidToStringSidA(owner, &text) != 0 && text == own;
  if (text != nullptr) LocalFree(text);
  LocalFree(facts);
  return is_own;
}

std::wstring PathOfPipe(const std::string& name) { return WideOf("\\\\.\\pipe\\" + name); }

bool IsServersEnd(const UniqueFd& pipe) {
  DWORD flags = 0;
  return GetNamedPipeInfo(HandleOf(pipe), &flags, nullptr, nullptr, nullptr) != 0 &&
         (flags & PIPE_SERVER_END) != 0;
}

// One reading, writing or connecting, which goes on while the caller waits.
class Transfer {
 public:
  // `begin` is given the OVERLAPPED that the system's functions take.
  template <typename Begin>
  Transfer(const UniqueFd& pipe, Begin begin)
      : pipe_(pipe), event_(OwnHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr))) {
    state_.hEvent = HandleOf(event_);
    const bool is_done = event_ && begin(&state_) != 0;
    error_ = is_done ? ERROR_SUCCESS : GetLastError();
    is_running_ = event_ && (is_done || error_ == ERROR_IO_PENDING);
  }
  ~Transfer() { (void)Finish(milliseconds{}); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  const UniqueFd& event() const { return event_; }
  DWORD error() const { return error_; }

  // Returns how many bytes there were; nothing on failure, or if they are not there in time.
  std::optional<DWORD> Finish(milliseconds patience) {
    if (!std::exchange(is_running_, false)) return std::nullopt;
    const auto most = static_cast<DWORD>(std::max<std::int64_t>(patience.count(), 0));
    const bool is_late = WaitForSingleObject(HandleOf(event_), most) != WAIT_OBJECT_0;
    if (is_late) CancelIoEx(HandleOf(pipe_), &state_);
    DWORD bytes = 0;
    const bool is_done = GetOverlappedResult(HandleOf(pipe_), &state_, &bytes, TRUE) != 0;
    error_ = is_done ? ERROR_SUCCESS : is_late ? WAIT_TIMEOUT : GetLastError();
    return is_done ? std::optional(bytes) : std::nullopt;
  }

 private:
  const UniqueFd& pipe_;
  UniqueFd event_;
  OVERLAPPED state_{};
  DWORD error_ = 0;
  bool is_running_ = false;
};

struct Received {
  std::string text;
  DWORD error = ERROR_SUCCESS;
};

// Receives what is sent up to the end of a line.
Received ReceiveLine(const UniqueFd& pipe, Clock::time_point until) {
  Received received;
  std::array<char, 16384> bytes;
  while (received.text.empty() || received.text.back() != '\n') {
    Transfer reading(pipe, [&](OVERLAPPED* state) {
      return ReadFile(HandleOf(pipe), bytes.data(), bytes.size(), nullptr, state);
    });
    const auto count = reading.Finish(std::chrono::ceil<milliseconds>(until - Clock::now()));
    if (!count || *count == 0 || received.text.size() > kLongestMessage) {
      received.error = reading.error() == ERROR_SUCCESS ? ERROR_BROKEN_PIPE : reading.error();
      return received;
    }
    received.text.append(bytes.data(), *count);
  }
  return received;
}

// A handle is only taken from a server, which duplicates one: a client could name any that this
// process has.
std::optional<SocketMessage> MessageIn(const std::string& text, const UniqueFd& pipe) {
  SocketMessage message{nlohmann::json::parse(text, nullptr, false)};
  if (!message.body.is_object()) return std::nullopt;
  const int handle = MemberOr(message.body, kHandle, 0);
  if (handle > 0 && !IsServersEnd(pipe)) message.fd = UniqueFd(handle);
  message.body.erase(kHandle);
  return message;
}

// Returns the number of the duplicate; 0 if the client's process cannot be opened.
int HandToClient(const UniqueFd& pipe, const UniqueFd& handle) {
  ULONG pid = 0;
  if (!GetNamedPipeClientProcessId(HandleOf(pipe), &pid)) return 0;
  const UniqueFd client = OwnHandle(OpenProcess(PROCESS_DUP_HANDLE, FALSE, pid));
  HANDLE copy = nullptr;
  if (!client || !DuplicateHandle(GetCurrentProcess(), HandleOf(handle), HandleOf(client), &copy, 0,
                                  FALSE, DUPLICATE_SAME_ACCESS)) {
    return 0;
  }
  return static_cast<int>(reinterpret_cast<std::intptr_t>(copy));
}

// Returns an error of the system, or ERROR_SUCCESS.
DWORD Send(const UniqueFd& pipe, const SocketMessage& message) {
  nlohmann::json body = message.body;
  if (message.fd) body[kHandle] = HandToClient(pipe, message.fd);
  const std::string text =
      body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    Transfer writing(pipe, [&](OVERLAPPED* state) {
      return WriteFile(HandleOf(pipe), text.data() + sent, static_cast<DWORD>(text.size() - sent),
                       nullptr, state);
    });
    const std::optional<DWORD> bytes = writing.Finish(kPatience);
    if (!bytes || *bytes == 0) return writing.error();
    sent += *bytes;
  }
  return ERROR_SUCCESS;
}

Unexpected DoesNotAnswer(std::string_view peer, DWORD error) {
  const std::string why = error == WAIT_TIMEOUT ? "nothing came in time" : WindowsErrorText(error);
  return InconclusiveError(
      fmt::format("{} does not answer: {}; has it ended, or been stopped?", peer, why));
}

PeerReply AskOne(const PeerQuestion& question) {
  constexpr milliseconds kToConnect(2000);  // a run has one client at a time
  constexpr milliseconds kToAnswer(2000);
  PeerReply reply;
  const UniqueFd pipe = ConnectToPipe(question.name, kToConnect);
  if (!pipe) {
    if (GetLastError() == ERROR_PIPE_BUSY) reply.state = PeerReply::State::kClosed;
    return reply;
  }
  reply.pid = PidOfPeer(pipe);
  reply.state = PeerReply::State::kSilent;
  if (Send(pipe, {question.body}) != ERROR_SUCCESS) return reply;
  const Received received = ReceiveLine(pipe, Clock::now() + kToAnswer);
  if (received.error == WAIT_TIMEOUT) return reply;
  std::optional<SocketMessage> message = MessageIn(received.text, pipe);
  reply.state = message ? PeerReply::State::kAnswered : PeerReply::State::kNobody;
  if (message) reply.message = *std::move(message);
  return reply;
}

}  // namespace

UniqueFd MakePipe(const std::string& name) {
  const std::string own = OwnUserText();
  const std::string rights = fmt::format("O:{0}G:{0}D:P(A;;GA;;;{0})", own);
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorA(rights.c_str(), SDDL_REVISION_1,
                                                            &descriptor, nullptr)) {
    return {};
  }
  SECURITY_ATTRIBUTES security{sizeof(security), descriptor, FALSE};
  constexpr DWORD kOneClient = 1;
  constexpr DWORD kRoom = 64 << 10;
  UniqueFd pipe = OwnHandle(CreateNamedPipeW(
      PathOfPipe(name).c_str(),
      PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
      PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, kOneClient, kRoom, kRoom, 0, &security));
  LocalFree(descriptor);
  return pipe;
}

bool AwaitClient(const UniqueFd& pipe, const UniqueFd& stop) {
  Transfer connecting(pipe,
                      [&](OVERLAPPED* state) { return ConnectNamedPipe(HandleOf(pipe), state); });
  if (connecting.error() == ERROR_PIPE_CONNECTED) return true;
  const HANDLE waits[] = {HandleOf(stop), HandleOf(connecting.event())};
  return WaitForMultipleObjects(2, waits, FALSE, INFINITE) == WAIT_OBJECT_0 + 1;
}

// A client that has read its answer goes. What it has said beside is of no interest.
void DismissClient(const UniqueFd& pipe) {
  const Clock::time_point until = Clock::now() + milliseconds(1000);
  std::array<char, 256> said;
  while (Clock::now() < until) {
    DWORD bytes = 0;
    if (!PeekNamedPipe(HandleOf(pipe), nullptr, 0, nullptr, &bytes, nullptr)) break;
    if (bytes == 0) {
      Sleep(kLookEachMs);
      continue;
    }
    Transfer reading(pipe, [&](OVERLAPPED* state) {
      return ReadFile(HandleOf(pipe), said.data(), said.size(), nullptr, state);
    });
    (void)reading.Finish(kPatience);
  }
  DisconnectNamedPipe(HandleOf(pipe));
}

ClientWait AwaitWord(const UniqueFd& pipe, const UniqueFd& stop, const UniqueFd& ended,
                     milliseconds patience) {
  const Clock::time_point until = Clock::now() + patience;
  const HANDLE waits[] = {HandleOf(stop), HandleOf(ended)};
  for (;;) {
    DWORD bytes = 0;
    if (!PeekNamedPipe(HandleOf(pipe), nullptr, 0, nullptr, &bytes, nullptr) || bytes != 0) {
      return ClientWait::kClient;
    }
    const DWORD which = WaitForMultipleObjects(ended ? 2 : 1, waits, FALSE, kLookEachMs);
    if (which == WAIT_OBJECT_0) return ClientWait::kStopped;
    if (which == WAIT_OBJECT_0 + 1) return ClientWait::kEnded;
    if (Clock::now() >= until) return ClientWait::kTooLong;
  }
}

bool IsPipe(const std::string& name) {
  constexpr DWORD kLeastMs = 1;
  return WaitNamedPipeW(PathOfPipe(name).c_str(), kLeastMs) != 0 ||
         GetLastError() == ERROR_SEM_TIMEOUT;
}

UniqueFd ConnectToPipe(const std::string& name, milliseconds patience) {
  const std::wstring path = PathOfPipe(name);
  const Clock::time_point until = Clock::now() + patience;
  for (;;) {
    UniqueFd pipe = OwnHandle(CreateFileW(
        path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
        FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
    if (pipe && !IsOwnUsers(pipe)) {
      pipe.Reset();
      SetLastError(ERROR_ACCESS_DENIED);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    if (pipe || GetLastError() != ERROR_PIPE_BUSY || left.count() <= 0) return pipe;
    WaitNamedPipeW(path.c_str(), static_cast<DWORD>(left.count()));
  }
}

int PidOfPeer(const UniqueFd& socket) {
  ULONG pid = 0;
  const BOOL is_known = IsServersEnd(socket) ? GetNamedPipeClientProcessId(HandleOf(socket), &pid)
                                             : GetNamedPipeServerProcessId(HandleOf(socket), &pid);
  return is_known != 0 ? static_cast<int>(pid) : 0;
}

Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                           std::string_view peer) {
  const DWORD error = Send(socket, message);
  if (error == ERROR_SUCCESS) return {};
  return DoesNotAnswer(peer, error);
}

Expected<SocketMessage> ReceiveMessage(const UniqueFd& socket, std::string_view peer) {
  const Received received = ReceiveLine(socket, Clock::now() + kPatience);
  if (received.error == WAIT_TIMEOUT) return DoesNotAnswer(peer, received.error);
  std::optional<SocketMessage> message = MessageIn(received.text, socket);
  if (message) return *std::move(message);
  return InconclusiveError(fmt::format("{} broke off; try again", peer));
}

std::vector<PeerReply> AskAll(const std::vector<PeerQuestion>& questions) {
  std::vector<std::future<PeerReply>> asked;
  for (const PeerQuestion& question : questions) {
    asked.push_back(std::async(std::launch::async, [&question] { return AskOne(question); }));
  }
  std::vector<PeerReply> replies;
  for (std::future<PeerReply>& reply : asked) replies.push_back(reply.get());
  return replies;
}

void AllowSlowAnswer(const UniqueFd&) {}

}  // namespace leakgate
