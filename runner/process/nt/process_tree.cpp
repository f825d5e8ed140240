#include "runner/process/process_tree.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "runner/base/nt/win32.h"
// Behind the above.
#include <winternl.h>

#include "runner/process/nt/process_job.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

std::mutex g_mutex;
// Kept until this process ends: their last handles end what is left in them.
std::map<int, UniqueFd>& Jobs() {
  static std::map<int, UniqueFd> jobs;
  return jobs;
}

HANDLE JobOf(int pid) {
  const std::lock_guard lock(g_mutex);
  const auto found = Jobs().find(pid);
  return found == Jobs().end() ? nullptr : HandleOf(found->second);
}

JOBOBJECT_BASIC_ACCOUNTING_INFORMATION CountsOf(HANDLE job) {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION counts{};
  QueryInformationJobObject(job, JobObjectBasicAccountingInformation, &counts, sizeof(counts),
                            nullptr);
  return counts;
}

}  // namespace

// A process that asks to leave its job, as programs may that start services, is not refused.
Expected<void> PutIntoJob(const UniqueFd& process, int pid) {
  UniqueFd job = OwnHandle(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (!job ||
      !SetInformationJobObject(HandleOf(job), JobObjectExtendedLimitInformation, &limits,
                               sizeof(limits)) ||
      !AssignProcessToJobObject(HandleOf(job), HandleOf(process))) {
    return InconclusiveError(
        fmt::format("the program cannot be put into a job, with which all that it starts ends: {}",
                    WindowsErrorText()));
  }
  const std::lock_guard lock(g_mutex);
  Jobs()[pid] = std::move(job);
  return {};
}

bool TellOfNewProcesses(int pid, const UniqueFd& port) {
  JOBOBJECT_ASSOCIATE_COMPLETION_PORT told{};
  told.CompletionKey = reinterpret_cast<void*>(static_cast<std::intptr_t>(pid));
  told.CompletionPort = HandleOf(port);
  const HANDLE job = JobOf(pid);
  return job != nullptr && SetInformationJobObject(job, JobObjectAssociateCompletionPortInformation,
                                                   &told, sizeof(told)) != 0;
}

void KillProcessTree(int root, const std::string&) {
  constexpr int kAttempts = 50;
  constexpr DWORD kPauseMs = 20;
  const HANDLE job = JobOf(root);
  if (job == nullptr) return;
  TerminateJobObject(job, 1);
  for (int i = 0; i < kAttempts && CountsOf(job).ActiveProcesses != 0; ++i) Sleep(kPauseMs);
}

bool IsBelow(int pid, int root) {
  constexpr int kDeepest = 1000;  // parents may change while they are read
  for (int depth = 0; depth < kDeepest && pid > 0; ++depth) {
    if (pid == root) return true;
    pid = ParentOf(pid);
  }
  return false;
}

bool CarriesMark(int, const std::string&) { return false; }

// A PID is given out again once its process has ended, so a parent is older than its child.
int ParentOf(int pid) {
  const UniqueFd process =
      OwnHandle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  PROCESS_BASIC_INFORMATION facts{};
  if (!process || NtQueryInformationProcess(HandleOf(process), ProcessBasicInformation, &facts,
                                            sizeof(facts), nullptr) < 0) {
    return 0;
  }
  const auto parent = static_cast<int>(facts.InheritedFromUniqueProcessId);
  return parent != 0 && StartTimeOf(parent) <= StartTimeOf(pid) ? parent : 0;
}

std::vector<Orphan> FindOrphans() { return {}; }

}  // namespace leakgate
