#include "runner/run/nt/self_test_child.h"

#include <fmt/format.h>

#include <optional>

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

}  // namespace

BlocksBySize BySize(const std::vector<LiveBlock>& blocks) {
  BlocksBySize sizes;
  for (const LiveBlock& block : blocks) ++sizes[block.size_bytes];
  return sizes;
}

Expected<SelfTestChild> SelfTestChild::Run(const SelfTestRequest& request, const std::string& name,
                                           const LookAtVerdict& look, unsigned exit_code) {
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SuspendedProcess> process,
                      LaunchCase(request, name, Debugged::kNo));
  LEAKGATE_TRY_ASSIGN(
      std::unique_ptr<RegionFile> region,
      RegionFile::Create({.pid = process->pid(), .boundaries = BoundarySource::kListener}));
  std::optional<Expected<void>> looked;
  MailboxServer server(region->mailbox(), [&](Mailbox& mailbox) {
    AnswerWithinBudget(mailbox);
    if (static_cast<Question>(mailbox.question) != Question::kJudge || !look || looked) return;
    looked = look({.region = region->reader(),
                   .window = mailbox.window,
                   .asking_tid = mailbox.tid,
                   .process = HandleOf(process->process())});
  });
  const std::shared_ptr<const MailboxEvents> events = MailboxEventsOf(process->pid());
  LEAKGATE_TRY(ImportAgent(HandleOf(process->process()),
                           {.region = HandleOf(region->fd()),
                            .ask = HandleOf(events->ask),
                            .reply = HandleOf(events->reply)},
                           request.agent));
  LEAKGATE_TRY(process->Resume());
  LEAKGATE_TRY(AwaitEnd(*process, exit_code));
  server.Stop();
  LEAKGATE_TRY(RequireTraced(region->reader()));
  if (look && !looked) return DoesNotHold("the program asked for no verdict");
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
