#include "runner/run/nt/self_test_child.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <optional>
#include <thread>

#include "runner/attach/program_environment.h"
#include "runner/host/mailbox_server.h"
#include "runner/host/nt/mailbox_events.h"
#include "runner/run/nt/agent_import.h"

namespace leakgate {
namespace {

constexpr DWORD kMostMs = 60'000;

}  // namespace

Expected<std::unique_ptr<SuspendedProcess>> LaunchCase(const SelfTestRequest& request,
                                                       const std::string& name, Debugged debugged) {
  return SuspendedProcess::Launch({.program = request.folder / kSelfTestProgram,
                                   .name = kSelfTestProgram,
                                   .arguments = {name},
                                   .environment = OwnEnvironment(),
                                   .signal_mask = {},
                                   .inherited = InheritedState::Take(),
                                   .debugged = debugged});
}

Expected<void> AwaitEnd(const SuspendedProcess& process, unsigned expected_code) {
  const HANDLE handle = HandleOf(process.process());
  if (WaitForSingleObject(handle, kMostMs) != WAIT_OBJECT_0) {
    TerminateProcess(handle, 1);
    WaitForSingleObject(handle, INFINITE);
    return DoesNotHold(fmt::format("{} does not end; it was ended", kSelfTestProgram));
  }
  DWORD code = 0;
  GetExitCodeProcess(handle, &code);
  if (code == expected_code) return {};
  return DoesNotHold(
      fmt::format("{} ends with {:#x} instead of {:#x}; something else may "
                  "have stopped it, such as antivirus software",
                  kSelfTestProgram, code, expected_code));
}

namespace {

Expected<void> RequireTraced(const RegionReader& region) {
  std::uint64_t drops = 0;
  for (std::uint32_t reason = 0; reason < kDropReasonCount; ++reason) {
    drops += region.Drops(static_cast<DropReason>(reason));
  }
  if (region.State() != AgentState::kTracing) {
    return DoesNotHold(
        fmt::format("the agent does not trace (state {}, failure {}); the library may be blocked",
                    static_cast<int>(region.State()), static_cast<int>(region.Failure())));
  }
  if (drops != 0) return DoesNotHold(fmt::format("{} events were not recorded", drops));
  return {};
}

constexpr EventRequest kEvents = {.buffer_bytes = 1U << 16, .buffer_count = 8};

// Drains the events of a program on a thread of its own.
class EventDrain {
 public:
  EventDrain(std::unique_ptr<EventBuffers> buffers,
             std::function<std::size_t(const EventPiece& piece)> use)
      : buffers_(std::move(buffers)), use_(std::move(use)) {
    buffers_->SetOn(true);
    thread_ = std::thread([this] {
      while (!is_ending_) {
        buffers_->WaitUntilFilled(std::chrono::milliseconds(50));
        Drain();
      }
    });
  }
  ~EventDrain() { Join(); }
  EventDrain(const EventDrain&) = delete;
  EventDrain& operator=(const EventDrain&) = delete;

  // Drains the rest. REQUIRES: the program has ended.
  [[nodiscard]] Expected<void> Finish() {
    Join();
    Drain();
    const std::uint64_t lost = buffers_->LostEvents();
    if (lost == 0) return {};
    return DoesNotHold(fmt::format("{} events were lost, as no buffer was free", lost));
  }

 private:
  void Join() {
    is_ending_ = true;
    buffers_->Wake();
    if (thread_.joinable()) thread_.join();
  }
  void Drain() {
    buffers_->Drain([this](const EventPiece& piece, EventPosition&) { return use_(piece); });
  }

  const std::unique_ptr<EventBuffers> buffers_;
  const std::function<std::size_t(const EventPiece& piece)> use_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace

BlocksBySize BySize(const std::vector<LiveBlock>& blocks) {
  BlocksBySize sizes;
  for (const LiveBlock& block : blocks) ++sizes[block.size_bytes];
  return sizes;
}

std::uint64_t Count(const BlocksBySize& blocks, std::uint64_t size, std::uint64_t most_added) {
  std::uint64_t count = 0;
  const auto end = blocks.upper_bound(size + most_added);
  for (auto at = blocks.lower_bound(size); at != end; ++at) count += at->second;
  return count;
}

Expected<std::string> ExpectWays(const BlocksBySize& blocks, std::span<const self_test::Way> ways) {
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::uint64_t size = self_test::SizeOf(i);
    const std::uint64_t live = Count(blocks, size, ways[i].most_added_bytes);
    const std::uint64_t freed =
        Count(blocks, size + self_test::kFreedMore, ways[i].most_added_bytes);
    if (live != 1) wrong.push_back(fmt::format("{} (seen {} times)", ways[i].name, live));
    if (freed != 0) wrong.push_back(fmt::format("{} (its free is not seen)", ways[i].name));
  }
  if (wrong.empty()) return fmt::format("{} ways to allocate, each exactly", ways.size());
  return DoesNotHold(fmt::format("not seen as they are: {}", fmt::join(wrong, ", ")));
}

Expected<SelfTestChild> SelfTestChild::Run(const SelfTestRequest& request,
                                           const SelfTestCase& test) {
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SuspendedProcess> process,
                      LaunchCase(request, test.name, Debugged::kNo));
  LEAKGATE_TRY_ASSIGN(std::unique_ptr<RegionFile> region,
                      RegionFile::Create({.pid = process->pid(),
                                          .boundaries = BoundarySource::kListener,
                                          .events = test.use_events ? kEvents : EventRequest{}}));
  std::optional<Expected<void>> looked;
  MailboxServer server(region->mailbox(), [&](Mailbox& mailbox) {
    AnswerWithinBudget(mailbox);
    if (static_cast<Question>(mailbox.question) != Question::kJudge || !test.look || looked) return;
    looked = test.look({.region = region->reader(),
                        .window = mailbox.window,
                        .asking_tid = mailbox.tid,
                        .process = HandleOf(process->process())});
  });
  std::optional<EventDrain> drain;
  if (test.use_events) {
    LEAKGATE_TRY_ASSIGN(std::unique_ptr<EventBuffers> buffers, EventBuffers::Attach(region->fd()));
    drain.emplace(std::move(buffers), test.use_events);
  }
  const std::shared_ptr<const MailboxEvents> events = MailboxEventsOf(process->pid());
  LEAKGATE_TRY(ImportAgent(HandleOf(process->process()),
                           {.region = HandleOf(region->fd()),
                            .ask = HandleOf(events->ask),
                            .reply = HandleOf(events->reply)},
                           request.agent));
  LEAKGATE_TRY(process->Resume());
  LEAKGATE_TRY(AwaitEnd(*process, test.exit_code));
  server.Stop();
  if (drain) LEAKGATE_TRY(drain->Finish());
  LEAKGATE_TRY(RequireTraced(region->reader()));
  if (test.look && !looked) return DoesNotHold("the program asked for no verdict");
  if (looked && !*looked) return Unexpected(looked->error());
  return SelfTestChild(std::move(region));
}

Expected<BlocksBySize> SelfTestChild::LiveBlocks() const {
  std::vector<LiveBlock> all;
  LEAKGATE_TRY(region().VisitBlocks([&](std::span<const LiveBlock> blocks) -> Expected<void> {
    all.insert(all.end(), blocks.begin(), blocks.end());
    return {};
  }));
  return BySize(all);
}

}  // namespace leakgate
