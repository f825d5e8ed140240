#include "runner/sessions/linux/exec_holder.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <thread>

#include "common/control_protocol.h"
#include "runner/attach/linux/exec_catch.h"
#include "runner/attach/linux/exec_hold.h"
#include "runner/attach/linux/program_begin.h"
#include "runner/attach/linux/watched_mounts.h"
#include "runner/base/linux/local_socket.h"
#include "runner/host/control_server.h"
#include "runner/host/message_socket.h"
#include "runner/process/linux/worker_factory.h"
#include "runner/process/proc_files.h"
#include "runner/sessions/session_processes.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostMessage = kMostExecNotice;
constexpr std::chrono::seconds kBeginPatience(10);

Json ToJson(const HolderOrders& orders) {
  return {{"control", orders.control},
          {"agent", orders.agent.string()},
          {"scope", leakgate::ToJson(orders.scope)},
          {"number", orders.number}};
}

std::string TextOf(const Json& body) {
  constexpr int kIndent = -1;  // none
  return body.dump(kIndent, ' ', false, Json::error_handler_t::replace);
}

// Never blocks. Returns whether the text was sent.
bool SendText(const UniqueFd& socket, const std::string& text) {
  return ::send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum class Received { kMessage, kNothing, kEnd };

// `flags` are passed to recv.
Received Receive(const UniqueFd& socket, int flags, std::string& text) {
  text.assign(kMostMessage, '\0');
  const ssize_t bytes = ::recv(socket.get(), text.data(), text.size(), flags);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return Received::kNothing;
  if (bytes <= 0) return Received::kEnd;
  text.resize(static_cast<std::size_t>(bytes));
  return Received::kMessage;
}

Received Receive(const UniqueFd& socket, int flags, Json& body) {
  std::string text;
  const Received received = Receive(socket, flags, text);
  if (received != Received::kMessage) return received;
  body = Json::parse(text, nullptr, false);
  return body.is_discarded() ? Received::kEnd : Received::kMessage;
}

// The owner's orders, as the holder and its workers read them.
class Orders {
 public:
  bool Take(std::string_view text) {
    const Json body = Json::parse(text, nullptr, false);
    if (body.is_discarded()) return false;
    Expected<SessionScope> scope = ScopeFromJson(MemberOr(body, "scope", Json()));
    if (!scope) return false;
    orders_ = {MemberOr(body, "control", std::string()), MemberOr(body, "agent", std::string()),
               *std::move(scope), MemberOr(body, "number", std::uint64_t{1})};
    return true;
  }

  const HolderOrders& get() const { return orders_; }

  bool IsWantedUser(unsigned uid) const { return IsThisUser(uid) || orders_.scope.users.Has(uid); }

  bool MayBeWanted(const std::string& path, const std::string& name) const {
    const std::vector<ImageSelector>& images = orders_.scope.images;
    return std::any_of(images.begin(), images.end(),
                       [&](const ImageSelector& image) { return SelectsImage(image, path, name); });
  }

  bool IsWanted(const ExecutedProgram& program) const {
    const std::vector<ImageSelector>& images = orders_.scope.images;
    return std::any_of(images.begin(), images.end(),
                       [&](const ImageSelector& image) { return Selects(image, program); });
  }

 private:
  HolderOrders orders_;
};

std::string MissText(int pid, const ExecutedProgram& program, std::string problem) {
  return TextOf(leakgate::ToJson(ProcessStatus{.pid = pid,
                                               .program = Shortened(program),
                                               .state = ProcessState::kFailed,
                                               .problem = std::move(problem),
                                               .start_time = StartTimeOf(pid)}));
}

std::string UnseenText(std::uint64_t count) { return TextOf({{"unseen", count}}); }

// A worker of the holder's, for the programs of one user.
class Catcher {
 public:
  Catcher(const UniqueFd& holder, const HandledProcesses& handled)
      : holder_(holder),
        handled_(handled),
        catch_(
            {.may_be_wanted =
                 [this](const std::string& path, const std::string& name) {
                   return orders_.MayBeWanted(path, name);
                 },
             .is_wanted =
                 [this](const ExecutedProgram& program) { return orders_.IsWanted(program); },
             .on_exec = [this](int pid, const ExecutedProgram& program) { Enable(pid, program); },
             .on_missed = [this](int pid, const ExecutedProgram& program,
                                 std::string problem) { Miss(pid, program, std::move(problem)); },
             .on_unseen = [this] { Note(UnseenText(1)); }},
            holder) {}

  // `orders` are the first orders.
  void Serve(std::string_view orders) {
    if (!orders_.Take(orders)) return;
    bool has_ended = false;  // true if the holder has no more questions
    for (;;) {
      const int pause = catch_.TimeToWaitMs();
      if (has_ended && pause < 0) return;
      pollfd waits[] = {{catch_.stopped_fd(), POLLIN, 0},
                        {has_ended ? -1 : holder_.get(), POLLIN, 0}};
      if (::poll(waits, std::size(waits), pause) < 0 && errno != EINTR) return;
      catch_.Continue();
      if (waits[1].revents != 0) has_ended = !TakeMessage();
    }
  }

 private:
  // Returns false if no more messages will come.
  bool TakeMessage() {
    std::string text(kMostMessage, '\0');
    Packet packet(text.data(), text.size());
    packet.MakeRoom();
    const ssize_t bytes = ::recvmsg(holder_.get(), packet.get(), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR;
    if (bytes == 0) return false;
    text.resize(static_cast<std::size_t>(bytes));
    UniqueFd file(packet.Attached());
    ExecQuestion question;
    if (file && text.size() == sizeof(question)) {
      std::memcpy(&question, text.data(), sizeof(question));
      catch_.Decide(question, std::move(file));
    } else {
      (void)orders_.Take(text);
    }
    return true;
  }

  void Enable(int pid, const ExecutedProgram& program) {
    handled_.Add(pid, StartTimeOf(pid), program.path);
    const std::optional<unsigned> uid = UserOfProcess(pid);
    if (uid && !orders_.IsWantedUser(*uid)) return Miss(pid, program, OtherUserText(*uid));
    const HolderOrders& orders = orders_.get();
    switch (ControlOf(pid)) {
      case Control::kOwn:  // it was started below the session, or by a program of the session
        return;
      case Control::kOthers:
        return Miss(pid, program,
                    "it was started below a run or another session, which decides about it");
      case Control::kNone:
        break;
    }
    const Expected<void> enabled =
        EnableAtExec({.pid = pid, .control = orders.control, .agent = orders.agent});
    if (!enabled) return Miss(pid, program, enabled.error().message);
    Note(TextOf(leakgate::ToJson(ProcessStatus{.pid = pid,
                                               .program = Shortened(program),
                                               .state = ProcessState::kStarting,
                                               .problem = "",
                                               .begin_seconds = std::time(nullptr),
                                               .start_time = StartTimeOf(pid)})));
  }

  enum class Control { kNone, kOwn, kOthers };
  // Returns whose control socket the program would connect to if it were left alone. The socket of
  // a session that has ended belongs to nobody.
  Control ControlOf(int pid) const {
    const std::string environment = '\0' + ReadProcBegin(pid, "environ", kMostEnvironment);
    const std::string variable = fmt::format("{}{}=", '\0', kControlVariable);
    const std::size_t at = environment.find(variable);
    if (at == std::string::npos) return Control::kNone;
    const std::string name = environment.c_str() + at + variable.size();
    const bool has_agent = environment.find(orders_.get().agent.string()) != std::string::npos;
    if (!has_agent) return Control::kNone;
    if (name == orders_.get().control) return Control::kOwn;
    return IsControlName(name) ? Control::kOthers : Control::kNone;
  }

  void Miss(int pid, const ExecutedProgram& program, std::string problem) {
    handled_.Add(pid, StartTimeOf(pid), program.path);
    Note(MissText(pid, program, std::move(problem)));
  }

  void Note(const std::string& text) const {
    (void)::send(holder_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }

  const UniqueFd& holder_;
  const HandledProcesses& handled_;
  Orders orders_;
  ExecCatch catch_;
};

// Runs a worker. The holder's first message says what kind of worker it is.
void WorkForHolder(const UniqueFd& holder, const HandledProcesses& handled) {
  std::string text(kMostMessage, '\0');
  const ssize_t bytes = ::recv(holder.get(), text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  if (text == ExecHold::kMountsRequest) return SendRootsOfMounts(holder);
  Catcher(holder, handled).Serve(text);
}

// The holder's side.
class Holder {
 public:
  Holder(UniqueFd socket, HandledProcesses handled)
      : socket_(std::move(socket)), handled_(std::move(handled)) {}

  void Serve() {
    std::string orders;
    if (Receive(socket_, 0, orders) != Received::kMessage || !TakeOrders(orders)) return;
    constexpr int kFirst = -20;
    ::setpriority(PRIO_PROCESS, 0, kFirst);  // the whole machine waits for it and its workers
    Expected<WorkerFactory> workers = WorkerFactory::Fork(
        kHolderName, [this](const UniqueFd& holder) { WorkForHolder(holder, handled_); });
    if (!workers) return TellProblem(workers.error());
    Expected<ExecHold> hold = ExecHold::Open(Handlers(), *std::move(workers), std::move(orders));
    if (!hold) return TellProblem(hold.error());
    if (SendText(socket_, R"({"holds":true})")) ServeHeld(*hold);
  }

 private:
  ExecHoldHandlers Handlers() {
    return {
        .is_wanted_user = [this](unsigned uid) { return orders_.IsWantedUser(uid); },
        .is_wanted_file = [this](const std::string& path) { return orders_.MayBeWanted(path, ""); },
        .on_missed =
            [this](int tid, const std::string& path, unsigned uid, std::string problem) {
              Miss(tid, {path, {}, path}, uid, std::move(problem));
            },
        .on_unseen = [this](std::uint64_t count) { Note(UnseenText(count)); },
        .on_notice = [this](std::string_view notice) { Note(std::string(notice)); },
        .on_barred =
            [this](unsigned uid) {
              Note(TextOf({{"barred", uid}}));
            }};
  }

  // Another user's program is left alone. A program that was allowed may be attached to once it
  // runs.
  void Miss(int pid, const ExecutedProgram& program, unsigned uid, std::string problem) {
    if (problem.empty()) {
      handled_.Add(pid, StartTimeOf(pid), program.path);
      problem = OtherUserText(uid);
    }
    Note(MissText(pid, program, std::move(problem)));
  }

  void TellProblem(const Error& error) const {
    (void)SendText(socket_, TextOf({{"problem", error.message}}));
  }

  bool TakeOrders(const std::string& text) {
    if (!orders_.Take(text)) return false;
    handled_.NoteOrders(orders_.get().number);
    return true;
  }

  void ServeHeld(ExecHold& hold) {
    for (;;) {
      const short owner = notices_.empty() ? POLLIN : POLLIN | POLLOUT;
      pollfd waits[] = {
          {hold.fd(), POLLIN, 0}, {socket_.get(), owner, 0}, {hold.mounts_fd(), POLLPRI, 0}};
      const int pause = static_cast<int>(hold.TimeToWait().count());
      if (::poll(waits, std::size(waits), pause) < 0 && errno != EINTR) return;
      if ((waits[2].revents & (POLLPRI | POLLERR)) != 0) hold.NoteMounts();
      hold.Serve();
      if ((waits[1].revents & (POLLIN | POLLHUP)) != 0 && !HearOwner(hold)) return;
      NotifyOwner();
    }
  }

  bool HearOwner(ExecHold& hold) {
    for (;;) {
      std::string text;
      const Received received = Receive(socket_, MSG_DONTWAIT, text);
      if (received == Received::kNothing) return true;
      if (received == Received::kEnd) return false;
      // The workers learn it before the owner does.
      if (Orders().Take(text)) hold.Change(text);
      (void)TakeOrders(text);
    }
  }

  void NotifyOwner() {
    while (!notices_.empty() && SendText(socket_, notices_.front())) {
      notices_bytes_ -= notices_.front().size();
      notices_.pop_front();
    }
    const bool can_tell = untold_ != 0 && notices_.empty();
    if (can_tell && SendText(socket_, TextOf({{"untold", untold_}}))) untold_ = 0;
  }

  // If there is no room for a notice, it is only counted, if it is about a program that is not
  // traced.
  void Note(std::string text) {
    constexpr std::size_t kMostWaiting = std::size_t{16} << 20;
    NotifyOwner();
    if (notices_bytes_ + text.size() > kMostWaiting) {
      untold_ += text.find(R"("state":"failed")") != std::string::npos;
      return;
    }
    notices_bytes_ += text.size();
    notices_.push_back(std::move(text));
    NotifyOwner();
  }

  UniqueFd socket_;
  HandledProcesses handled_;
  Orders orders_;
  std::deque<std::string> notices_;  // for which the owner has had no room yet
  std::size_t notices_bytes_ = 0;    // of all of them
  std::uint64_t untold_ = 0;
};

void RunHolder(UniqueFd socket, HandledProcesses handled, pid_t owner) {
  ResetForkedProcess(kHolderName, socket, owner);
  try {
    Holder(std::move(socket), std::move(handled)).Serve();
  } catch (const std::exception&) {  // the kernel lets all held programs continue
  }
}

}  // namespace

Expected<HandledProcesses> HandledProcesses::Make() {
  constexpr std::size_t kBytes = (kSlots + 1) * sizeof(std::uint64_t);
  const UniqueFd memory(::memfd_create("leakgate-handled", MFD_CLOEXEC));
  if (!memory || ::ftruncate(memory.get(), kBytes) != 0) {
    return InconclusiveError(fmt::format("cannot start the session's holder: {}", ErrnoText()));
  }
  LEAKGATE_TRY_ASSIGN(Mapping mapping, Mapping::Map(memory, 0, kBytes, MappingAccess::kReadWrite));
  HandledProcesses handled;
  handled.memory_ = std::move(mapping);
  return handled;
}

std::atomic<std::uint64_t>& HandledProcesses::Slot(std::size_t at) const {
  return reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data())[at];
}

void HandledProcesses::NoteOrders(std::uint64_t number) const {
  Slot(kOrdersSlot).store(number, std::memory_order_release);
}

std::uint64_t HandledProcesses::orders() const {
  return Slot(kOrdersSlot).load(std::memory_order_acquire);
}

// The order may be relaxed: nothing else is published with it.
void HandledProcesses::Add(int pid, std::uint64_t start_time, const std::string& image) const {
  SlotOf(pid).store(Mark(pid, start_time, image), std::memory_order_release);
}

bool HandledProcesses::Has(int pid, std::uint64_t start_time, const std::string& image) const {
  return SlotOf(pid).load(std::memory_order_acquire) == Mark(pid, start_time, image);
}

Expected<ExecHolder> ExecHolder::Fork() {
  LEAKGATE_TRY_ASSIGN(HandledProcesses handled, HandledProcesses::Make());
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return InconclusiveError(fmt::format("cannot start the session's holder: {}", ErrnoText()));
  }
  UniqueFd owners(ends[0]);
  UniqueFd holders(ends[1]);
  const pid_t owner = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return InconclusiveError(fmt::format("cannot start the session's holder: {}", ErrnoText()));
  }
  if (pid == 0) {
    owners.Reset();
    RunHolder(std::move(holders), std::move(handled), owner);
    ::_exit(0);
  }
  return ExecHolder(std::move(owners), std::move(handled), pid);
}

Expected<void> ExecHolder::Begin(const HolderOrders& orders) {
  Json answer;
  const bool is_sent = SendText(socket_, TextOf(ToJson(orders)));
  pollfd wait{socket_.get(), POLLIN, 0};
  const bool is_told =
      is_sent &&
      ::poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(kBeginPatience).count())) > 0 &&
      Receive(socket_, MSG_DONTWAIT, answer) == Received::kMessage;
  if (is_told && MemberOr(answer, "holds", false)) return {};
  End();
  return InconclusiveError(
      MemberOr(answer, "problem", std::string("the session's holder ended before it served")));
}

void ExecHolder::Change(HolderOrders orders) {
  orders.number = ++orders_;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  if (!SendText(socket_, TextOf(ToJson(orders)))) return;
  while (handled_.orders() < orders.number && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

ExecHolder::Notices ExecHolder::Take() const {
  Notices notices;
  for (;;) {
    Json body;
    const Received received = Receive(socket_, MSG_DONTWAIT, body);
    if (received == Received::kNothing) return notices;
    if (received == Received::kEnd) {
      notices.has_ended = true;
      return notices;
    }
    const auto untold = MemberOr(body, "untold", std::uint64_t{0});
    notices.untold += untold;
    if (body.contains("barred")) {
      notices.barred.push_back(MemberOr(body, "barred", 0U));
    } else if (body.contains("unseen")) {
      notices.unseen += MemberOr(body, "unseen", std::uint64_t{0});
    } else if (untold == 0) {
      notices.programs.push_back(ProcessFromJson(body));
    }
  }
}

bool ExecHolder::HasHandled(int pid, const std::string& image) const {
  return handled_.Has(pid, StartTimeOf(pid), image);
}

void ExecHolder::End() {
  if (pid_ == 0) return;
  socket_.Reset();
  ::kill(pid_, SIGKILL);  // the holder may be stopped
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace leakgate
