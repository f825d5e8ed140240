// Sessions for services: a bounded ring of snapshots (`leakgate session start --snapshots`), and
// the units that start one at boot (`leakgate session unit`), whose commands are run here as
// systemd would run them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tests/integration/launch_commands.h"
#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class SessionRingTest : public testing::Test {
 protected:
  ~SessionRingTest() override { Leakgate({"session", "stop", name_}); }

  // The names of the files in the ring, sorted.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(ring_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::uintmax_t Bytes() const {
    std::uintmax_t bytes = 0;
    for (const std::string& name : Files()) bytes += fs::file_size(ring_ + "/" + name);
    return bytes;
  }
  CommandResult Start(std::vector<std::string> options, const std::string& image) const {
    options.insert(options.begin(),
                   {"session", "start", name_, "--image", image, "--snapshots", ring_});
    return Leakgate(options);
  }
  Json Query() const {
    return Json::parse(Leakgate({"session", "query", name_, "--json"}).standard_output);
  }
  bool HaveBeenTaken(std::uint64_t count) const {
    return ComesTrue([&] { return Query()["snapshots"]["taken"].get<std::uint64_t>() >= count; });
  }

  const TemporaryDirectory directory_;
  const std::string ring_ = directory_.File("ring");
  const std::string name_ = "unit" + std::to_string(::getpid());
};

// A program that runs until its input ends, below the session.
class Below {
 public:
  explicit Below(const std::string& session)
      : command_(
            {LeakgatePath(), "session", "exec", session, "--", FixturePath("heap_on_request")}) {}

 private:
  RunningCommand command_;
};

TEST_F(SessionRingTest, HasNeverMoreFilesThanItMay) {
  ASSERT_EQ(Start({"--every", "50ms", "--keep", "3"}, "heap_on_request").exit_code, 0);
  const Below running(name_);
  std::size_t most = 0;
  ASSERT_TRUE(ComesTrue([&] {
    most = std::max(most, Files().size());
    return most >= 3 && Query()["snapshots"]["taken"].get<int>() >= 8;
  }));
  EXPECT_EQ(most, 3U);
  const Json ring = Query()["snapshots"];
  EXPECT_LE(ring["files"], 3);
  EXPECT_EQ(ring["problem"], "");
  for (const std::string& name : Files()) {
    EXPECT_THAT(name, testing::MatchesRegex(name_ + "@[0-9]{5}.*"));  // it may go on for long
    const bool is_shown = Leakgate({"snapshot", "show", ring_ + "/" + name}).exit_code == 0;
    EXPECT_TRUE(is_shown || !fs::exists(ring_ + "/" + name)) << name;  // the ring goes on
  }
  // One goes before the next one comes.
  const auto matches = testing::ContainsRegex("snapshots in " + ring_ + ": .* in 3 files, ");
  EXPECT_TRUE(ComesTrue([&] {
    return testing::Value(Leakgate({"session", "query", name_}).standard_output, matches);
  }));
  EXPECT_TRUE(ComesTrue([&] { return Query()["snapshots"]["files"] == 3; }));
}

TEST_F(SessionRingTest, HasNeverMoreBytesThanItMay) {
  ASSERT_EQ(Start({"--every", "50ms", "--keep", "100"}, "heap_on_request").exit_code, 0);
  {
    const Below running(name_);
    ASSERT_TRUE(HaveBeenTaken(1));
  }
  Leakgate({"session", "stop", name_});
  const std::uintmax_t one = Bytes() / Files().size();
  ASSERT_EQ(Start({"--every", "50ms", "--keep", "100", "--keep-bytes", std::to_string(3 * one)},
                  "heap_on_request")
                .exit_code,
            0);
  const Below running(name_);
  ASSERT_TRUE(HaveBeenTaken(8));
  Leakgate({"session", "stop", name_});
  EXPECT_THAT(Bytes(), Le(3 * one));
  EXPECT_THAT(Files(), Not(IsEmpty()));
}

TEST_F(SessionRingTest, SaysThatOneSnapshotIsLargerThanAllMayBe) {
  ASSERT_EQ(Start({"--every", "50ms", "--keep-bytes", "100"}, "heap_on_request").exit_code, 0);
  const Below running(name_);
  ASSERT_TRUE(ComesTrue([&] { return Query()["snapshots"]["problem"] != ""; }));
  EXPECT_THAT(Query()["snapshots"]["problem"].get<std::string>(),
              HasSubstr("and all of them may take 100 B; raise --keep-bytes"));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              HasSubstr("the last snapshot that failed: a snapshot takes "));
}

// As after each boot.
TEST_F(SessionRingTest, GoesOnWhereAnEarlierSessionEnded) {
  fs::create_directory(ring_);
  // Sessions may be called as one of this session's files would begin.
  std::vector<std::string> others = {"mine.snapshot",
                                     name_ + "@x-1.snapshot",
                                     name_ + "@1-a-1.snapshot",
                                     name_ + "@000001-a.snapshot",
                                     name_ + "@000001-a-b.snapshot",
                                     "other@000001-a-1.snapshot",
                                     name_ + "-1@000001-a-1.snapshot",
                                     name_ + "-000001@000001-a-1.snapshot",
                                     name_ + "-000001-000001-a-1.snapshot"};
  for (const std::string& other : others) directory_.Write("ring/" + other, "not leakgate's");
  for (int i = 1; i <= 6; ++i) {
    directory_.Write("ring/" + name_ + "@00000" + std::to_string(i) + "-srv-1.snapshot", "old");
  }
  ASSERT_EQ(Start({"--every", "50ms", "--keep", "4"}, "heap_on_request").exit_code, 0);
  EXPECT_THAT(Files(), SizeIs(4 + others.size()));
  const Below running(name_);
  ASSERT_TRUE(HaveBeenTaken(4));
  const std::vector<std::string> files = Files();
  EXPECT_THAT(files, testing::IsSupersetOf(others));
  for (const std::string& name : files) EXPECT_THAT(name, Not(HasSubstr("-srv-1.")));
}

TEST_F(SessionRingTest, HasALastSnapshotOfAProcessThatEnded) {
  ASSERT_EQ(Start({"--every", "1h"}, "heap_on_request").exit_code, 0);
  const CommandResult run =
      Leakgate({"session", "exec", name_, "--", FixturePath("heap_on_request")},
               {.standard_input = "keep 7 100\n"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(HaveBeenTaken(1));  // soon, not after an hour
  EXPECT_EQ(Leakgate({"session", "stop", name_}).exit_code, 0);
  ASSERT_THAT(Files(), SizeIs(1));
  const CommandResult shown = Leakgate({"snapshot", "show", ring_ + "/" + Files()[0]});
  EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
}

TEST_F(SessionRingTest, OptionsNeedADirectory) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--every", "1s"}, {"--keep", "3"}, {"--keep-bytes", "1G"}}) {
    std::vector<std::string> command = {"session", "start", name_, "--image", "a"};
    command.insert(command.end(), options.begin(), options.end());
    const CommandResult refused = Leakgate(command);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.standard_error, HasSubstr("are for --snapshots DIR; add it"));
  }
  const CommandResult refused = Start({"--keep-bytes", "1X"}, "a");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.standard_error,
              HasSubstr("--keep-bytes '1X': write a size above 0, such as 500K, 100M or 2G"));
}

// The words of a unit's command line, as systemd splits them.
std::vector<std::string> WordsOfUnit(const std::string& line) {
  std::vector<std::string> words;
  bool is_quoted = false;
  bool is_word = false;
  std::string word;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      is_quoted = !is_quoted;
      is_word = true;
    } else if (c == ' ' && !is_quoted) {
      if (is_word) words.push_back(word);
      word.clear();
      is_word = false;
    } else {
      if (c == '\\' || ((c == '%' || c == '$') && i + 1 < line.size() && line[i + 1] == c)) ++i;
      word += line[i];
      is_word = true;
    }
  }
  if (is_word) words.push_back(word);
  return words;
}

std::vector<std::string> CommandIn(const std::string& unit, const std::string& key) {
  const std::size_t at = unit.find("\n" + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return WordsOfUnit(unit.substr(begin, unit.find('\n', begin) - begin));
}

class SessionUnitTest : public SessionRingTest {
 protected:
  CommandResult Unit(std::vector<std::string> options) const {
    options.insert(options.begin(), {"session", "unit", name_});
    return Leakgate(options);
  }
};

TEST_F(SessionUnitTest, PrintsAUnitAndADropInWithTheirPlaces) {
  const CommandResult printed = Unit({"--image", "srv", "--service", "srv"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.standard_error, "");
  const std::string unit = "leakgate-" + name_ + ".service";
  EXPECT_THAT(
      printed.standard_output,
      AllOf(StartsWith("# /etc/systemd/system/" + unit + "\n[Unit]\n"),
            HasSubstr("\nBefore=srv.service\n"), HasSubstr("\nType=forking\n"),
            HasSubstr("\nStateDirectory=leakgate/" + name_ + "\n"),
            HasSubstr("\n# /etc/systemd/system/srv.service.d/leakgate.conf\n[Unit]\nWants=" + unit +
                      "\nAfter=" + unit + "\n")));
  EXPECT_THAT(
      CommandIn(printed.standard_output, "ExecStart"),
      testing::ElementsAre(LeakgatePath(), "session", "start", name_, "--image", "srv", "--system",
                           "--snapshots", "/var/lib/leakgate/" + name_, "--every", "10min",
                           "--keep", "48", "--keep-bytes", "1073741824"));
}

TEST_F(SessionUnitTest, IsWhatSystemdCallsCorrect) {
  if (RunCommand({"sh", "-c", "command -v systemd-analyze"}).exit_code != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed (Debian package systemd)";
  }
  const std::string place = directory_.File("system");
  const CommandResult written = Unit(
      {"--image", "srv", "--image", "python3:a b%$\"'\\.py", "--service", "srv@x", "-o", place});
  ASSERT_EQ(written.exit_code, 0) << written.standard_error;
  const std::string unit = place + "/leakgate-" + name_ + ".service";
  directory_.Write("system/srv@.service", "[Service]\nExecStart=/bin/true\n");
  const CommandResult verified =
      RunCommand({"systemd-analyze", "verify", "--man=no", unit, place + "/srv@x.service"});
  EXPECT_EQ(verified.exit_code, 0) << verified.standard_error;
  EXPECT_THAT(verified.standard_error, Not(HasSubstr(place))) << "it complains of the unit";
  EXPECT_THAT(ReadFile(place + "/srv@x.service.d/leakgate.conf"),
              HasSubstr("After=leakgate-" + name_ + ".service"));
  EXPECT_THAT(CommandIn(ReadFile(unit), "ExecStart"), testing::Contains("python3:a b%$\"'\\.py"));
}

// A backslash at the end of a line would have the next one go on in it.
TEST_F(SessionUnitTest, HasNoLineThatTheNextOneContinues) {
  for (const std::string image : {"a\\", "a:b\\", "\\", "a\\\\\\"}) {
    const std::string unit = Unit({"--image", image, "--snapshots", "/a\\"}).standard_output;
    EXPECT_THAT(unit, HasSubstr("\nDescription=leakgate traces " + image));
    EXPECT_THAT(unit, Not(HasSubstr("\\\n")));
    EXPECT_THAT(CommandIn(unit, "ExecStart"), testing::Contains(image));
  }
}

TEST_F(SessionUnitTest, IsRefusedWhereLeakgatesOwnPathCanStandInNone) {
  for (const std::string place : {"a\nExecStartPre=b", "\ta", "a\r"}) {
    const std::string own = directory_.File(place);
    fs::create_directories(own);
    fs::copy_file(LeakgatePath(), own + "/leakgate");
    for (const Command& options : {Command{}, Command{"--container"}}) {
      Command command = {own + "/leakgate", "session", "unit", name_, "--image", "a"};
      command.insert(command.end(), options.begin(), options.end());
      const CommandResult refused = RunCommand(command);
      EXPECT_EQ(refused.exit_code, 2);
      EXPECT_EQ(refused.standard_output, "");
      EXPECT_THAT(refused.standard_error, HasSubstr("leakgate's own path has a line break"));
    }
    fs::remove_all(own);
  }
}

// What systemd would do, by root and without it.
TEST_F(SessionUnitTest, HasCommandsThatTraceAServiceFromItsBeginAndEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "units are run by root";
  const std::string image = "srv" + name_;
  const std::string program = directory_.File(image);
  fs::copy_file(FixturePath("heap_on_request"), program);
  const std::string unit = Unit({"--image", image, "--service", "srv", "--snapshots", ring_,
                                 "--every", "50ms", "--keep", "5", "--keep-bytes", "10M"})
                               .standard_output;
  EXPECT_THAT(unit, Not(HasSubstr("StateDirectory")));
  const CommandResult started = RunCommand(CommandIn(unit, "ExecStart"));
  ASSERT_EQ(started.exit_code, 0) << started.standard_error;
  const bool is_holding = Query()["is_holding"];
  {
    HeapOnRequest service(HeapOnRequest::File{program});
    service.Keep(7, 100);
    ASSERT_TRUE(HaveBeenTaken(7));
    EXPECT_THAT(Files(), SizeIs(5));
  }
  const Json processes = Query()["processes"];
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0]["state"], "ended");
  EXPECT_EQ(processes[0].contains("attached_seconds"), !is_holding);
  EXPECT_EQ(RunCommand(CommandIn(unit, "ExecStop")).exit_code, 0);
  EXPECT_EQ(Leakgate({"session", "query", name_}).exit_code, 2);
  EXPECT_THAT(Files(), SizeIs(5));
}

TEST_F(SessionUnitTest, PrintsAContainersEntrypointThatRuns) {
  const CommandResult printed = Unit({"--image", "heap_on_request", "--container", "--snapshots",
                                      ring_, "--every", "1h", "--keep", "5"});
  ASSERT_EQ(printed.exit_code, 0) << printed.standard_error;
  const std::string script = directory_.Write("entrypoint", printed.standard_output);
  ::chmod(script.c_str(), 0755);
  const CommandResult run =
      RunCommand({script, FixturePath("heap_on_request")}, {.standard_input = "keep 7 100\n"});
  EXPECT_EQ(run.standard_output, "ready\ndone\n") << run.standard_error;
  EXPECT_THAT(Query()["processes"], SizeIs(1));
  EXPECT_EQ(Leakgate({"session", "stop", name_}).exit_code, 0);
  EXPECT_THAT(Files(), SizeIs(1));
}

// The service is not to stay down because nothing could be traced.
TEST_F(SessionUnitTest, EntrypointRunsTheProgramWhereNoSessionCanBeStarted) {
  const CommandResult printed = Unit({"--image", "a", "--container", "--snapshots", "/proc/none"});
  const std::string script = directory_.Write("entrypoint", printed.standard_output);
  EXPECT_EQ(RunCommand({"sh", script, "echo", "a b"}).standard_output, "a b\n");
}

TEST_F(SessionUnitTest, RefusesWhatCanStandInNoUnit) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refusals = {
      {{}, "name a session and what it is to trace"},
      {{"--image", "a\nb"}, "--image: a name with a line break"},
      {{"--image", "a", "--snapshots", "/a\nb"}, "--snapshots: a path with a line break"},
      {{"--image", "a", "--snapshots", "ring"}, "--snapshots ring: write the whole path"},
      {{"--image", "a", "--service", "a b"}, "--service 'a b': not the name of a service's unit"},
      {{"--image", "a", "--service", "a.socket"}, "not the name of a service's unit"},
      {{"--image", "a", "--service", "a", "--container"}, "--service is for systemd"},
      {{"--image", "a", "--", "true"}, "leakgate session unit runs no program"}};
  for (const auto& [options, text] : refusals) {
    const CommandResult refused = Unit(options);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.standard_error, HasSubstr(text));
  }
}

}  // namespace
}  // namespace leakgate::test
