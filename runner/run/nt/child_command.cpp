#include "runner/run/child_command.h"

#include <fmt/format.h>

#include "runner/attach/program_environment.h"
#include "runner/base/nt/win32.h"
#include "runner/process/nt/process_job.h"
#include "runner/run/nt/start_process.h"

namespace leakgate {

Expected<int> RunToFile(const ChildCommand& command, const std::filesystem::path& output) {
  SECURITY_ATTRIBUTES inheritable{sizeof(inheritable), nullptr, TRUE};
  const UniqueFd file =
      OwnHandle(CreateFileW(output.c_str(), GENERIC_WRITE, FILE_SHARE_READ, &inheritable,
                            CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) {
    return Unexpected(Error{
        fmt::format("{}: cannot be written: {}", Utf8Of(output.native()), WindowsErrorText())});
  }
  std::vector<std::string> environment = OwnEnvironment();
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  const std::string program = Utf8Of(command.program.native());
  const std::optional<StartedProcess> child = StartProcess({.program = command.program,
                                                            .name = program,
                                                            .arguments = command.arguments,
                                                            .environment = std::move(environment),
                                                            .directory = command.directory,
                                                            .flags = CREATE_SUSPENDED,
                                                            .output = HandleOf(file)});
  if (!child) {
    return Unexpected(Error{fmt::format("{}: cannot be started: {}", program, WindowsErrorText())});
  }
  if (const Expected<void> is_in_job = PutIntoJob(child->process, child->pid); !is_in_job) {
    TerminateProcess(HandleOf(child->process), 1);
    return Unexpected(is_in_job.error());
  }
  ResumeThread(HandleOf(child->thread));
  WaitForSingleObject(HandleOf(child->process), INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(HandleOf(child->process), &code);
  return static_cast<int>(code);
}

}  // namespace leakgate
