#include "plugin/agent/windows/mailbox.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "common/system.h"
#include "plugin/agent/base/region.h"

#include LEAKGATE_AGENT(new_file)
#include LEAKGATE_AGENT(runner_wait)
#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

// Returns false if the runner died before it answered.
bool WaitForReply(Mailbox& mailbox, std::uint32_t request) {
  for (;;) {
    // Acquire pairs with the runner's release after it has written the answer.
    const std::uint32_t reply = mailbox.reply.load(std::memory_order_acquire);
    if (reply == request) return true;
    if (!AwaitRunner(mailbox, reply)) return false;
  }
}

constexpr std::uint64_t kTurnPatienceNs = 1'000'000'000;

// The thread whose turn it is to ask; 0: none.
constinit std::atomic<std::uint32_t> g_asker{0};

// While this object lives, the mailbox is this thread's, from its question until it has read the
// answer. Others may wait for a long time, because the runner may repeat a test meanwhile.
class Turn {
 public:
  Turn() : tid_(static_cast<std::uint32_t>(CurrentTid())) {
    std::uint32_t asker = 0;
    while (!g_asker.compare_exchange_weak(asker, tid_, std::memory_order_acquire)) {
      // A signal handler of the asking thread would wait for ever.
      if (asker == tid_) return;
      if (AreOtherThreadsGone()) g_asker.store(0, std::memory_order_relaxed);
      if (asker != 0) WaitWhile(g_asker, asker, kTurnPatienceNs);
      asker = 0;
    }
    is_held_ = true;
  }
  ~Turn() {
    if (!is_held_) return;
    g_asker.store(0, std::memory_order_release);
    WakeWaiters(g_asker);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Returns whether there is an answer. REQUIRES: the rest of the question has been written.
  bool Ask(Question question) const {
    if (!is_held_) return false;
    Mailbox& mailbox = g_region.mailbox();
    mailbox.question = static_cast<std::uint32_t>(question);
    mailbox.tid = static_cast<std::int32_t>(tid_);
    const std::uint32_t request = mailbox.request.load(std::memory_order_relaxed) + 1;
    // Release pairs with the acquire of the runner's judge.
    mailbox.request.store(request, std::memory_order_release);
    WakeRunner(mailbox);
    return WaitForReply(mailbox, request);
  }

  bool is_held() const { return is_held_; }

 private:
  const std::uint32_t tid_;
  bool is_held_ = false;
};

std::uint32_t AtMost(std::uint32_t length, std::uint32_t limit) {
  return length < limit ? length : limit;
}

// Copies from the last verdict, because the next question, perhaps another thread's, overwrites the
// mailbox.
constinit char g_file[Mailbox::kFileCapacity] = {};
constinit char g_text[Mailbox::kTextCapacity] = {};

std::string_view Keep(const char* text, std::uint32_t length, char* to) {
  std::memcpy(to, text, length);
  return {to, length};
}

void Take(const Mailbox& mailbox, const TextRoom& room) {
  if (room.capacity == 0) return;
  const std::uint32_t length = AtMost(AtMost(mailbox.text_length, room.capacity - 1),  //
                                      Mailbox::kTextCapacity);
  std::memcpy(room.text, mailbox.text, length);
  room.text[length] = '\0';
}

Answered TakeError(const Mailbox& mailbox, const TextRoom& room) {
  if (mailbox.text_length == 0) return Answered::kNo;
  Take(mailbox, room);
  return Answered::kWithError;
}

// Writes the text, and cuts it if it does not fit.
void Say(const TextRoom& room, std::initializer_list<std::string_view> parts) {
  if (room.capacity == 0) return;
  std::size_t length = 0;
  for (const std::string_view part : parts) {
    const std::size_t fits = std::min(part.size(), room.capacity - 1 - length);
    std::memcpy(room.text + length, part.data(), fits);
    length += fits;
  }
  room.text[length] = '\0';
}

Answered CannotWrite(const char* path, const NewFile& file, const TextRoom& room) {
  Say(room, {"cannot write snapshot ", path == nullptr ? "" : path, ": ", file.WhyNot(),
             NewFile::kRemedy});
  return Answered::kWithError;
}

}  // namespace

void ForgetTurns() { g_asker.store(0, std::memory_order_relaxed); }

RunnerVerdict AskRunner(const RunnerQuestion& asked) {
  const Turn turn;
  if (!turn.is_held()) return {};
  Mailbox& mailbox = g_region.mailbox();
  mailbox.window = asked.window;
  mailbox.iteration = asked.iteration;
  mailbox.subject = asked.subject;
  if (!turn.Ask(asked.question) || mailbox.over_budget == 0) return {};
  return {.is_over_budget = true,
          .line = mailbox.line,
          .file = Keep(mailbox.file, AtMost(mailbox.file_length, sizeof(g_file)), g_file),
          .text = Keep(mailbox.text, AtMost(mailbox.text_length, sizeof(g_text)), g_text)};
}

std::optional<Amount> AskToMeasure(Question question, std::uint32_t measuring_window,
                                   const TextRoom& room) {
  const Turn turn;
  if (!turn.is_held()) return {};
  Mailbox& mailbox = g_region.mailbox();
  mailbox.subject = measuring_window;
  mailbox.text_room = room.capacity;
  if (!turn.Ask(question) || mailbox.bytes < 0) return {};
  Take(mailbox, room);
  return Amount{mailbox.bytes, mailbox.blocks};
}

void SendProbedOperators(const ProbedObject* objects, std::uint32_t count) {
  const Turn turn;
  if (!turn.is_held()) return;
  Mailbox& mailbox = g_region.mailbox();
  mailbox.text_length = count * sizeof(ProbedObject);
  std::memcpy(mailbox.text, objects, mailbox.text_length);
  turn.Ask(Question::kOperatorsProbed);
}

Answered SaveSnapshot(const char* path, const TextRoom& room) {
  const Turn turn;
  if (!turn.is_held()) return Answered::kNo;
  NewFile file(path);
  // If the file cannot be written, the runner is not asked.
  if (file.error() != 0) return CannotWrite(path, file, room);
  Mailbox& mailbox = g_region.mailbox();
  if (!turn.Ask(Question::kTakeSnapshot)) return Answered::kNo;
  if (mailbox.bytes < 0) return TakeError(mailbox, room);
  std::int64_t left = mailbox.bytes;
  if (!file.HasRoomFor(left)) return CannotWrite(path, file, room);
  for (mailbox.subject = 0; left > 0; ++mailbox.subject) {
    if (!turn.Ask(Question::kReadSnapshot)) return Answered::kNo;
    const std::uint32_t length = AtMost(mailbox.text_length, Mailbox::kTextCapacity);
    if (mailbox.bytes < 0 || length == 0) return Answered::kNo;
    if (!file.Write({mailbox.text, length})) return CannotWrite(path, file, room);
    left -= length;
  }
  return file.PutInPlace() ? Answered::kYes : CannotWrite(path, file, room);
}

}  // namespace leakgate::agent
