// What the checking agent does with each stack that it tells.
#include <cerrno>

#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/unwind/stack_check.h"
#include "tests/stack_check/checks.h"
#include "tests/stack_check/comparison.h"
#include "tests/stack_check/other_unwinders.h"

namespace leakgate::agent {
namespace {

using check::Comparison;

void CompareWithLibgcc(Comparison& comparison) {
  auto next = [&](std::uint64_t pc, std::uint64_t sp) { return comparison.Next(pc, sp); };
  if (check::WalkByLibgcc(next)) comparison.End();
}

// libunwind remembers rules by pc, for modules that may have gone.
void ForgetModulesThatWent(const check::Libunwind& libunwind) {
  static constinit std::atomic<std::uint32_t> known_epoch{0};
  const std::uint32_t epoch = g_modules.Epoch();
  if (known_epoch.exchange(epoch, std::memory_order_relaxed) == epoch) return;
  libunwind.flush_cache(*libunwind.local_addr_space, 0, 0);
}

void CompareWithLibunwind(const check::Libunwind& libunwind, Comparison& comparison) {
  ForgetModulesThatWent(libunwind);
  auto next = [&](std::uint64_t pc, std::uint64_t sp) { return comparison.Next(pc, sp); };
  if (check::WalkByLibunwind(libunwind, next)) comparison.End();
}

void WriteOut(const check::Disagreement& disagreement) {
  check::StackLog log;
  log.Say("told\n");
  for (std::uint32_t node = disagreement.told_stack; node >= kStackRootCount;
       node = g_region.stacks()[node].parent) {
    log.SayPc(g_region.stacks()[node].pc);
  }
  bool is_reached = false;
  auto say = [&](std::uint64_t pc, std::uint64_t sp) {
    is_reached = is_reached || sp == disagreement.caller.sp;
    if (is_reached) log.SayPc(pc);
    return true;
  };
  if (const check::Libunwind* const libunwind = check::LoadedLibunwind()) {
    log.Say("libunwind\n");
    check::WalkByLibunwind(*libunwind, say);
  }
  log.Say("libgcc\n");
  is_reached = false;
  check::WalkByLibgcc(say);
  log.Say("\n");
}

void Count(check::CheckFile& file, const Comparison& comparison) {
  file.equal.fetch_add(1, std::memory_order_relaxed);
  file.frames.fetch_add(comparison.agreed_frames(), std::memory_order_relaxed);
  file.ends[static_cast<std::uint32_t>(comparison.end())].fetch_add(1, std::memory_order_relaxed);
}

void Check(check::CheckFile& file, const CallerFrame& caller, std::uint32_t stack) {
  file.compared.fetch_add(1, std::memory_order_relaxed);
  Comparison first(caller, stack);
  if (const check::Libunwind* const libunwind = check::LoadedLibunwind()) {
    CompareWithLibunwind(*libunwind, first);
  } else {
    file.by_libgcc_alone.fetch_add(1, std::memory_order_relaxed);
    CompareWithLibgcc(first);
  }
  if (first.difference() == check::Difference::kNone) return Count(file, first);

  Comparison second(caller, stack);
  CompareWithLibgcc(second);
  const check::Disagreement disagreement{caller, stack, first, second};
  if (check::CountDisagreement(file, disagreement)) WriteOut(disagreement);
}

// What the other unwinders map for themselves is not the program's.
class OthersWork {
 public:
  OthersWork() : before_(t_thread) { t_thread.SetActivity(Activity::kAllocator); }
  ~OthersWork() { t_thread = before_; }
  OthersWork(const OthersWork&) = delete;
  OthersWork& operator=(const OthersWork&) = delete;

 private:
  const ThreadHandle before_;
};

}  // namespace

void CheckStack(const CallerFrame& caller, std::uint32_t stack) {
  const OthersWork work;
  const int hosts_error = errno;
  if (check::CheckFile* const file = check::Checks()) Check(*file, caller, stack);
  errno = hosts_error;
}

}  // namespace leakgate::agent
