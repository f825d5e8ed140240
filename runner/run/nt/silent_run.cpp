#include "runner/run/silent_run.h"

#include <fmt/format.h>

#include "runner/attach/program_environment.h"
#include "runner/base/nt/win32.h"
#include "runner/base/regular_file.h"
#include "runner/process/nt/process_job.h"
#include "runner/process/process_tree.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/nt/start_process.h"
#include "runner/run/scratch_copy.h"

namespace leakgate {

std::string ListTestsAsJson(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments) {
  constexpr DWORD kMostMs = 60'000;
  const ScratchDirectory scratch = ScratchDirectory::ForRepetitions();
  const UniqueFd null = OpenNull();
  if (scratch.path().empty() || !null) return {};
  const std::filesystem::path list = scratch.path() / "tests.json";
  std::vector<std::string> listing = arguments;
  listing.emplace_back(kListTestsFlag);
  listing.push_back(fmt::format("{}json:{}", kOutputFlag, Utf8Of(list.native())));
  const std::optional<StartedProcess> child = StartProcess({.program = program,
                                                            .name = Utf8Of(program.native()),
                                                            .arguments = listing,
                                                            .environment = OwnEnvironment(),
                                                            .flags = CREATE_SUSPENDED,
                                                            .output = HandleOf(null)});
  if (!child || !PutIntoJob(child->process, child->pid)) return {};
  ResumeThread(HandleOf(child->thread));
  WaitForSingleObject(HandleOf(child->process), kMostMs);
  KillProcessTree(child->pid, "");
  return ReadRegularFile(list, kMostListBytes).value_or("");
}

}  // namespace leakgate
