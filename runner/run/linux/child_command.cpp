#include "runner/run/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <boost/asio/io_context.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/start_dir.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <system_error>

#include "runner/attach/program_environment.h"
#include "runner/base/descriptors.h"

namespace leakgate {
namespace {

namespace process = boost::process::v2;

// Called in the child between fork and exec.
struct EndWithParent {
  template <typename Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const boost::filesystem::path&,
                                          const char* const*&) const {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    return {};
  }
};

int ShellCodeOf(int native) {
  if (WIFEXITED(native)) return WEXITSTATUS(native);
  return 128 + (WIFSIGNALED(native) ? WTERMSIG(native) : 0);
}

}  // namespace

Expected<int> RunToFile(const ChildCommand& command, const std::filesystem::path& output) {
  const UniqueFd file(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) {
    return Unexpected(Error{fmt::format("{}: cannot be written: {}", output.string(),
                                        std::generic_category().message(errno))});
  }
  std::vector<std::string> environment = OwnEnvironment();
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  const std::filesystem::path directory =
      command.directory.empty() ? std::filesystem::current_path() : command.directory;
  boost::asio::io_context context;
  boost::system::error_code error;
  process::default_process_launcher launcher;
  auto child =
      launcher(context.get_executor(), error, boost::filesystem::path(command.program.string()),
               command.arguments, process::process_stdio{nullptr, file.get(), file.get()},
               process::process_environment(environment),
               process::process_start_dir(directory.string()), EndWithParent{});
  if (error) {
    return Unexpected(
        Error{fmt::format("{}: cannot be started: {}", command.program.string(), error.message())});
  }
  child.wait(error);
  return ShellCodeOf(child.native_exit_code());
}

}  // namespace leakgate
