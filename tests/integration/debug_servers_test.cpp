// Debug files from a server (debuginfod), for a program that was stripped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A web server for the files of a directory, on a port of its own.
class WebServer {
 public:
  WebServer(const std::string& directory, const std::string& log) {
    int told[2];
    if (::pipe2(told, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(told[1], 1);
      ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
      ::execlp("python3", "python3", "-c", kProgram, directory.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(told[1]);
    std::string line;
    for (char c = 0; ::read(told[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(told[0]);
    if (line.empty()) throw std::runtime_error("no web server");
    url_ = "http://127.0.0.1:" + line;
  }
  ~WebServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  static constexpr char kProgram[] = R"(
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
)";
  pid_t pid_ = -1;
  std::string url_;
};

// Lets anybody connect, and says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, raw, bytes) != 0 || ::listen(socket_, 16) != 0 ||
        ::getsockname(socket_, raw, &bytes) != 0) {
      throw std::runtime_error("no socket");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  const std::string& url() const { return url_; }
  // How often somebody has connected.
  int CountConnections() const {
    int count = 0;
    for (int client = 0; (client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      ::close(client);
      ++count;
    }
    return count;
  }

 private:
  int socket_;
  std::string url_;
};

class DebugServersTest : public testing::Test {
 protected:
  DebugServersTest() {
    fs::copy_file(FixturePath("windows_untouched"), program_);
    Run("objcopy --only-keep-debug " + program_ + " " + debug_);
    Run("strip " + program_);
    fs::create_directories(served_);
    const CommandResult run = RunStripped({"--snapshots", directory_.path(), "--when=every"});
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      const std::string path = entry.path().string();
      if (path.ends_with("-end.snapshot")) snapshot_ = path;
    }
    EXPECT_NE(snapshot_, "") << run.standard_error;
  }

  static void Run(const std::string& command) {
    const CommandResult result = RunCommand({"sh", "-c", command});
    if (result.exit_code != 0) throw std::runtime_error(command + ": " + result.standard_error);
  }
  CommandResult RunStripped(const std::vector<std::string>& options,
                            const std::string& servers = "") const {
    std::vector<std::string> command = {"run", "--confirm=off"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", program_, "--gtest_filter=Amounts.AllocatesAndFrees"});
    return Leakgate(command, {.environment = EnvironmentFor(servers)});
  }
  // As debuginfod's clients ask for it.
  void Serve() const {
    const CommandResult notes = RunCommand({"readelf", "-n", debug_});
    const std::string key = "Build ID: ";
    const std::size_t at = notes.standard_output.find(key) + key.size();
    const std::string id =
        notes.standard_output.substr(at, notes.standard_output.find('\n', at) - at);
    fs::create_directories(served_ + "/buildid/" + id);
    fs::copy_file(debug_, served_ + "/buildid/" + id + "/debuginfo");
  }
  std::vector<std::string> EnvironmentFor(const std::string& servers) const {
    return {"DEBUGINFOD_URLS=" + servers, "DEBUGINFOD_CACHE_PATH=" + directory_.File("cache"),
            "DEBUGINFOD_TIMEOUT=1", "no_proxy=127.0.0.1", "http_proxy="};
  }
  CommandResult Show(const std::string& servers) const {
    return Leakgate({"snapshot", "show", snapshot_, "--group-by", "site"},
                    {.environment = EnvironmentFor(servers)});
  }
  std::string Log() const {
    return fs::exists(directory_.File("log")) ? ReadFile(directory_.File("log")) : "";
  }

  const TemporaryDirectory directory_;
  const std::string program_ = directory_.File("program");
  const std::string debug_ = directory_.File("aside");  // where nobody looks for it
  const std::string served_ = directory_.File("served");
  std::string snapshot_;
};

constexpr const char* kSource = "fixtures/windows.cpp:";

TEST_F(DebugServersTest, GiveFunctionsAndLinesToAStrippedProgram) {
  Serve();
  const WebServer server(served_, directory_.File("log"));
  const CommandResult shown = Show(server.url());
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.standard_error, "");
  EXPECT_THAT(shown.standard_output, AllOf(HasSubstr(kSource), HasSubstr("AllocatesAndFrees")));
  EXPECT_THAT(Log(), HasSubstr("/debuginfo HTTP/1.1\" 200"));
}

TEST_F(DebugServersTest, GiveThemToAProgramThatIsNotHere) {
  Serve();
  fs::remove(program_);
  const WebServer server(served_, directory_.File("log"));
  EXPECT_THAT(Show("").standard_output, Not(HasSubstr(kSource)));
  EXPECT_THAT(Show(server.url()).standard_output, HasSubstr(kSource));
}

TEST_F(DebugServersTest, MayNotHaveTheFile) {
  const WebServer server(served_, directory_.File("log"));
  const CommandResult shown = Show(server.url());
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.standard_error, "");
  EXPECT_THAT(shown.standard_output, AllOf(HasSubstr("program+0x"), Not(HasSubstr(kSource))));
  EXPECT_THAT(Log(), HasSubstr("/debuginfo HTTP/1.1\" 404"));
}

TEST_F(DebugServersTest, AreAskedNoMoreOnceTheySayNothing) {
  const SilentServer server;
  for (const char* const where : {"here", "gone"}) {
    const CommandResult shown = Show(server.url());
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(shown.standard_error,
              "leakgate: no answer in 1 s from " + server.url() +
                  ": asked no more, so functions and lines may be missing; see DEBUGINFOD_URLS\n");
    EXPECT_THAT(shown.standard_output, HasSubstr("program+0x"));
    EXPECT_EQ(server.CountConnections(), 1) << where;
    fs::remove(program_);
  }
}

TEST_F(DebugServersTest, MayNotBeThere) {
  const std::string url = SilentServer().url();
  const CommandResult shown = Show(url);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.standard_output, HasSubstr("program+0x"));
}

TEST_F(DebugServersTest, AreTheOnlyReasonToUseTheNetwork) {
  const auto calls = [&](const std::string& servers) {
    return RunCommand({"strace", "-f", "-e", "trace=socket,connect", LeakgatePath(), "snapshot",
                       "show", snapshot_},
                      {.environment = EnvironmentFor(servers)})
        .standard_error;
  };
  const SilentServer server;
  EXPECT_THAT(calls(server.url()), HasSubstr("AF_INET"));
  const std::string without = calls("");
  EXPECT_THAT(without, AllOf(HasSubstr("exited with 0"), Not(HasSubstr("AF_"))));
}

// Whoever judges does not wait for the network; what it starts may.
TEST_F(DebugServersTest, AreAskedByNoRun) {
  Serve();
  const WebServer server(served_, directory_.File("log"));
  const CommandResult run = RunStripped({}, server.url());
  EXPECT_THAT(run.standard_output + run.standard_error, HasSubstr("leakgate: "));
  EXPECT_EQ(Log(), "");
  const std::vector<std::string> environment = EnvironmentFor(server.url());
  const CommandResult alone = RunCommand({"env"}, {.environment = environment});
  const CommandResult below = Leakgate({"run", "--", "env"}, {.environment = environment});
  EXPECT_THAT(alone.standard_output, HasSubstr("DEBUGINFOD_URLS=" + server.url() + "\n"));
  std::string expected;
  for (std::size_t at = 0; at < below.standard_output.size();) {
    const std::size_t end = below.standard_output.find('\n', at) + 1;
    const std::string line = below.standard_output.substr(at, end - at);
    const bool is_ours = line.starts_with("LD_PRELOAD=") || line.starts_with("LEAKGATE_CONTROL=");
    if (!is_ours) expected += line;
    at = end;
  }
  EXPECT_EQ(expected, alone.standard_output);
}

}  // namespace
}  // namespace leakgate::test
