// leakgate top: what grows in a process that runs, look by look.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

// leakgate top, read while it runs.
class RunningTop {
 public:
  explicit RunningTop(const std::string& subject)
      : pipe_(::popen(
            ("echo $$; exec " + LeakgatePath() + " top " + subject + " --every 100ms --json")
                .c_str(),
            "r")) {
    if (pipe_ == nullptr) throw std::runtime_error("no shell");
    pid_ = std::stoi(Line());
  }
  ~RunningTop() {
    if (pipe_ != nullptr) End(SIGKILL);
  }
  RunningTop(const RunningTop&) = delete;
  RunningTop& operator=(const RunningTop&) = delete;

  Json Look() { return Json::parse(Line()); }
  // Looks on until `is_there` says so; each look is a line, so a busy machine only takes longer.
  template <typename IsThere>
  Json LookUntil(const IsThere& is_there) {
    for (int looks = 0; looks < 1000; ++looks) {
      const Json look = Look();
      if (is_there(look)) return look;
    }
    throw std::runtime_error("it is not there");
  }
  // Asks it to end, and returns its exit code; -1: a signal ended it.
  int End(int signal) {
    ::kill(pid_, signal);
    std::string rest;
    for (char text[4096]; std::fgets(text, sizeof(text), pipe_) != nullptr;) rest += text;
    const int status = ::pclose(pipe_);
    pipe_ = nullptr;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string Line() {
    std::string line;
    for (int c = std::fgetc(pipe_); c != '\n'; c = std::fgetc(pipe_)) {
      if (c == EOF) throw std::runtime_error("it has ended: " + line);
      line.push_back(static_cast<char>(c));
    }
    return line;
  }

  std::FILE* pipe_;
  pid_t pid_ = 0;
};

// How many blocks the call site has; 0 if there is none of that name.
int LiveBlocksOf(const std::string& name, const Json& look) {
  for (const Json& site : look["sites"]) {
    if (site["name"].get<std::string>().find(name) != std::string::npos) {
      return site["live"]["blocks"].get<int>();
    }
  }
  return 0;
}

class TopTest : public testing::Test {
 protected:
  std::string pid() const { return std::to_string(program_.pid()); }

  HeapOnRequest program_;  // without leakgate
};

TEST_F(TopTest, TellsWhatGrowsBetweenLooks) {
  RunningTop top(pid());
  const Json first = top.Look();
  EXPECT_EQ(first["schema"], "leakgate-top-1");
  ASSERT_THAT(first["processes"], SizeIs(1));
  EXPECT_EQ(first["processes"][0]["pid"], program_.pid());
  EXPECT_EQ(first["processes"][0]["grown"]["blocks"], 0);

  program_.Keep(7, 1000);
  const auto has_kept = [](const Json& look) {
    return look["processes"][0]["grown"]["bytes"] >= 7000;
  };
  const Json grown = top.LookUntil(has_kept);
  const Json& site = grown["sites"][0];
  EXPECT_THAT(site["name"], HasSubstr("Keep"));
  EXPECT_THAT(site["place"], HasSubstr("heap_on_request.cpp:"));
  EXPECT_EQ(site["grown"]["blocks"], 7);
  EXPECT_EQ(site["live"]["bytes"], 7000);

  program_.Drop(3);
  const Json shrunk =
      top.LookUntil([](const Json& look) { return look["sites"][0]["live"]["blocks"] == 4; });
  EXPECT_EQ(shrunk["sites"][0]["grown"]["bytes"], 4000);
  EXPECT_EQ(shrunk["sites"][0]["recent"]["bytes"], -3000);
  EXPECT_EQ(top.LookUntil([](const Json& look) {
    return look["sites"][0]["recent"]["bytes"] == 0;
  })["sites"][0]["grown"]["blocks"],
            4);
  EXPECT_EQ(top.End(SIGINT), 0);
}

// A process that nobody traces is let go at the end, and nothing is left behind.
TEST_F(TopTest, LetsTheProcessGo) {
  RunningTop top(pid());
  top.Look();
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, HasSubstr("top-" + pid()));
  EXPECT_EQ(top.End(SIGTERM), 0);
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr("top-" + pid())));
  program_.Keep(2, 10);
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(TopTest, EndsWithTheProcess) {
  RunningTop top(pid());
  top.Look();
  program_.Keep(3, 100);
  EXPECT_EQ(program_.End(), 0);
  const Json last =
      top.LookUntil([](const Json& look) { return look["processes"][0]["has_ended"] == true; });
  EXPECT_EQ(last["sites"][0]["live"]["blocks"], 3);
  EXPECT_EQ(top.End(0), 0);
}

// What the process executed before is gone, and so is what it had.
TEST_F(TopTest, FollowsAProcessThatExecutesAnotherProgram) {
  HeapOnRequest suspended(Suspended::kBeforeExec);  // a shell
  RunningTop top(std::to_string(suspended.pid()));
  EXPECT_THAT(top.Look()["processes"][0]["name"].get<std::string>(),
              Not(HasSubstr("heap_on_request")));
  suspended.Resume();
  suspended.Keep(6, 50);
  const Json look = top.LookUntil([](const Json& it) {
    return it["processes"].size() == 1 && it["processes"][0]["generation"] == 2 &&
           LiveBlocksOf("Keep", it) == 6;
  });
  EXPECT_THAT(look["processes"][0]["name"].get<std::string>(), HasSubstr("heap_on_request"));
  EXPECT_EQ(suspended.End(), 0);
  top.LookUntil([](const Json& it) { return it["processes"][0]["has_ended"] == true; });
  EXPECT_EQ(top.End(0), 0);
}

TEST_F(TopTest, LooksAtASessionsProcesses) {
  const std::string session = "top-test-" + std::to_string(::getpid());
  ASSERT_EQ(Leakgate({"session", "start", session, "--pid", pid()}).exit_code, 0);
  program_.Keep(5, 100);
  RunningTop top(session);
  const Json look = top.LookUntil(
      [](const Json& it) { return it["processes"].size() == 1 && !it["sites"].empty(); });
  EXPECT_EQ(look["sites"][0]["live"]["blocks"], 5);
  EXPECT_EQ(top.End(SIGINT), 0);

  const CommandResult text =
      Leakgate({"top", session, "--every", "50ms", "--stop-after", "2", "--top", "1"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.standard_output, HasSubstr("heap_on_request, PID " + pid()));
  EXPECT_THAT(text.standard_output, HasSubstr("CALL SITE"));
  EXPECT_THAT(text.standard_output, Not(HasSubstr("\x1b")));
  Leakgate({"session", "stop", session});
}

TEST_F(TopTest, SaysWhatIsWrong) {
  EXPECT_EQ(Leakgate({"top"}).exit_code, 2);
  const CommandResult none = Leakgate({"top", "no-such-session"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.standard_error, HasSubstr("there is no session 'no-such-session'"));
  const CommandResult gone = Leakgate({"top", "999999999"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.standard_error, HasSubstr("there is no process with PID 999999999"));
  EXPECT_EQ(Leakgate({"top", pid(), "--symbols", "/no/such"}).exit_code, 2);
  EXPECT_EQ(Leakgate({"top", pid(), "--", "true"}).exit_code, 2);
}

}  // namespace
}  // namespace leakgate::test
