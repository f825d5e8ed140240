#include "runner/run/silent_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>

#include "runner/base/descriptors.h"
#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

namespace process = boost::process::v2;

// Has the child die with the runner. Called in the child between fork and exec.
struct DieWithRunner {
  template <typename Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const boost::filesystem::path&,
                                          const char* const*&) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return {};
  }
};

// Runs the program to its end, but for a minute at most.
void RunSilently(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  boost::asio::io_context context;
  boost::system::error_code error;
  process::default_process_launcher launcher;
  auto child =
      launcher(context.get_executor(), error, boost::filesystem::path(program.string()), arguments,
               process::process_stdio{nullptr, nullptr, nullptr}, DieWithRunner{});
  if (error) return;

  boost::asio::steady_timer timer(context, std::chrono::minutes(1));
  timer.async_wait([&](const boost::system::error_code& cancelled) {
    boost::system::error_code ignored;
    if (!cancelled) child.terminate(ignored);
  });
  child.async_wait([&](const boost::system::error_code&, int) { timer.cancel(); });
  context.run();
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof(buffer), at);
    if (got <= 0) return text;
    if (text.size() > kMostListBytes) return {};
    text.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace

// The program writes the list to memory, through /proc, so no file is left behind.
std::string ListTestsAsJson(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments) {
  const UniqueFd memory(::memfd_create("leakgate-tests", MFD_CLOEXEC));
  if (!memory) return {};
  std::vector<std::string> listing = arguments;
  listing.emplace_back(kListTestsFlag);
  listing.push_back(fmt::format("{}json:/proc/{}/fd/{}", kOutputFlag, ::getpid(), memory.get()));
  RunSilently(program, listing);
  return ReadAll(memory.get());
}

}  // namespace leakgate
