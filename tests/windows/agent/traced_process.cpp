#include "tests/windows/agent/traced_process.h"

#include <stdexcept>

#include "runner/base/nt/win32.h"
#include "runner/region/nt/waiting_agent.h"
#include "runner/run/nt/agent_import.h"

namespace leakgate::testing {
namespace {

template <typename T>
T Must(Expected<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(outcome);
}

void Must(bool has_worked, const char* what) {
  if (!has_worked) throw std::runtime_error(std::string(what) + ": " + WindowsErrorText());
}

BlocksBySize BySize(const std::vector<LiveBlock>& blocks) {
  BlocksBySize sizes;
  for (const LiveBlock& block : blocks) ++sizes[block.size_bytes];
  return sizes;
}

std::wstring CommandLine(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments) {
  std::wstring line = L"\"" + program.wstring() + L"\"";
  for (const std::string& argument : arguments) line += L" \"" + WideOf(argument) + L"\"";
  return line;
}

}  // namespace

std::filesystem::path ProgramFolder() {
  std::wstring path(32768, L'\0');
  path.resize(::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return std::filesystem::path(path).parent_path();
}

TracedProcess::TracedProcess(const TraceRequest& request) {
  const std::filesystem::path program = std::filesystem::path(request.fixture).is_absolute()
                                            ? std::filesystem::path(request.fixture)
                                            : ProgramFolder() / request.fixture;
  std::wstring line = CommandLine(program, request.arguments);
  STARTUPINFOW start{};
  start.cb = sizeof(start);
  PROCESS_INFORMATION made{};
  Must(::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED,
                        nullptr, nullptr, &start, &made) != 0,
       "CreateProcess");
  const UniqueFd process = OwnHandle(made.hProcess);
  const UniqueFd thread = OwnHandle(made.hThread);

  region_ = Must(RegionFile::Create({.pid = static_cast<int>(made.dwProcessId),
                                     .boundaries = BoundarySource::kListener,
                                     .stack_events = request.stack_events}));
  region_->Ask(kAskAtProcessEnd);
  const UniqueFd ask = OwnHandle(::CreateEventW(nullptr, FALSE, FALSE, nullptr));
  const UniqueFd reply = OwnHandle(::CreateEventW(nullptr, FALSE, FALSE, nullptr));
  const Expected<void> imported = ImportAgent(
      made.hProcess,
      {.region = HandleOf(region_->fd()), .ask = HandleOf(ask), .reply = HandleOf(reply)},
      ProgramFolder() / request.agent);
  if (!imported) {
    ::TerminateProcess(made.hProcess, 1);
    throw std::runtime_error(imported.error().message);
  }
  NoteWaitingAgent(static_cast<int>(made.dwProcessId), {&region_->mailbox(), HandleOf(reply)});
  ::ResumeThread(made.hThread);
  const HANDLE waits[] = {HandleOf(ask), made.hProcess};
  while (::WaitForMultipleObjects(2, waits, FALSE, INFINITE) == WAIT_OBJECT_0) {
    if (request.kills_at_first_question) {
      ::TerminateProcess(made.hProcess, 42);
      continue;
    }
    Answer(request.looks_at);
    ::SetEvent(HandleOf(reply));
  }
  ForgetWaitingAgent(static_cast<int>(made.dwProcessId));
  ::GetExitCodeProcess(made.hProcess, &exit_code_);
}

void TracedProcess::Answer(const LookAtWindow& looks_at) {
  Mailbox& mailbox = region_->mailbox();
  const std::uint32_t request = mailbox.request.load(std::memory_order_acquire);
  if (static_cast<Question>(mailbox.question) == Question::kJudge) {
    judged_.push_back(
        {region().Window(mailbox.window).name, BySize(Must(region().LiveBlocks(mailbox.window)))});
    if (looks_at) looks_at(region(), mailbox.window, mailbox.tid);
  }
  mailbox.over_budget = 0;
  mailbox.text_length = 0;
  mailbox.file_length = 0;
  mailbox.bytes = -1;
  mailbox.reply.store(request, std::memory_order_release);
}

BlocksBySize TracedProcess::LiveBlocks() const {
  std::vector<LiveBlock> all;
  Must(region().VisitBlocks([&](std::span<const LiveBlock> blocks) -> Expected<void> {
    all.insert(all.end(), blocks.begin(), blocks.end());
    return {};
  }));
  return BySize(all);
}

std::uint64_t TracedProcess::Drops() const {
  std::uint64_t drops = 0;
  for (std::uint32_t reason = 0; reason < kDropReasonCount; ++reason) {
    drops += region().Drops(static_cast<DropReason>(reason));
  }
  return drops;
}

}  // namespace leakgate::testing
