#include "runner/host/mailbox_server.h"

#include <map>
#include <mutex>
#include <system_error>

#include "runner/base/nt/win32.h"
#include "runner/host/nt/mailbox_events.h"
#include "runner/region/nt/waiting_agent.h"

namespace leakgate {
namespace {

// A question sets the event; a wake-up that was lost in some way delays the answer by this.
constexpr DWORD kLongWaitMs = 5'000;

// A mailbox is served from before its process runs until after that has ended, and a PID is not
// given out again meanwhile, because the launcher holds the process.
struct Served {
  const Mailbox* mailbox = nullptr;
  std::shared_ptr<const MailboxEvents> events;
};
std::mutex g_mutex;
std::map<int, Served>& ServedByPid() {
  static std::map<int, Served> served;
  return served;
}

// A new event resets itself when a wait for it ends.
UniqueFd MakeEvent() {
  UniqueFd event = OwnHandle(CreateEventW(nullptr, FALSE, FALSE, nullptr));
  if (!event) throw std::system_error(LastWindowsError(), "CreateEvent");
  return event;
}

// The mailbox follows the region's header, which only the runner has written so far.
int PidOf(const Mailbox& mailbox) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&mailbox) - region_offset::kMailbox;
  return reinterpret_cast<const RegionHeader*>(begin + region_offset::kHeader)->pid;
}

std::shared_ptr<const MailboxEvents> EventsFor(const Mailbox& mailbox) {
  const std::lock_guard lock(g_mutex);
  for (const auto& [pid, served] : ServedByPid()) {
    if (served.mailbox == &mailbox) return served.events;
  }
  auto events = std::make_shared<const MailboxEvents>(MailboxEvents{MakeEvent(), MakeEvent()});
  ServedByPid()[PidOf(mailbox)] = {&mailbox, events};
  return events;
}

void Forget(const Mailbox& mailbox) {
  const std::lock_guard lock(g_mutex);
  std::erase_if(ServedByPid(), [&](const auto& entry) { return entry.second.mailbox == &mailbox; });
}

}  // namespace

std::shared_ptr<const MailboxEvents> MailboxEventsOf(int pid) {
  const std::lock_guard lock(g_mutex);
  const auto found = ServedByPid().find(pid);
  return found == ServedByPid().end() ? nullptr : found->second.events;
}

MailboxServer::MailboxServer(Mailbox& mailbox, Answer answer)
    : mailbox_(mailbox), answer_(std::move(answer)) {
  // Before the process can be handed them.
  NoteWaitingAgent(PidOf(mailbox), {&mailbox, HandleOf(EventsFor(mailbox)->reply)});
  thread_ = std::thread([this] { Serve(); });
}

void MailboxServer::Stop() {
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_release);
  SetEvent(HandleOf(EventsFor(mailbox_)->ask));
  thread_.join();
  ForgetWaitingAgent(PidOf(mailbox_));
  Forget(mailbox_);
}

void MailboxServer::Serve() {
  const std::shared_ptr<const MailboxEvents> events = EventsFor(mailbox_);
  while (!is_stopping_.load(std::memory_order_acquire)) {
    // Acquire pairs with the agent's release once it has written the question.
    const std::uint32_t asked = mailbox_.request.load(std::memory_order_acquire);
    // Compares the shared words themselves: a wild write to both is then not taken for a question.
    if (asked == mailbox_.reply.load(std::memory_order_relaxed)) {
      WaitForSingleObject(HandleOf(events->ask), kLongWaitMs);
      continue;
    }
    answer_(mailbox_);
    // Release pairs with the agent's acquire.
    mailbox_.reply.store(asked, std::memory_order_release);
    SetEvent(HandleOf(events->reply));
  }
  has_stopped_.store(true, std::memory_order_release);
}

}  // namespace leakgate
