// Programs of Debian's below a session, and attached to: what they print is what they print
// without.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::SizeIs;
using Json = nlohmann::json;

class RealProgramsTest : public testing::Test {
 protected:
  ~RealProgramsTest() override { Leakgate({"session", "stop", session_}); }

  Json Processes() const {
    return Json::parse(
        Leakgate({"session", "query", session_, "--json"}).standard_output)["processes"];
  }
  const std::string session_ = "real-" + std::to_string(::getpid());
  const TemporaryDirectory directory_;
};

TEST_F(RealProgramsTest, GitAndPythonByName) {
  const std::string script =
      "git init -q repository && cd repository && echo text > file && git add file && "
      "git -c user.name=a -c user.email=a@b commit -q --date=2026-01-01T00:00:00Z -m one && "
      "git ls-tree HEAD && /usr/bin/python3 -c 'import json; print(json.dumps([1, 2.5]))'";
  const TemporaryDirectory other;
  const CommandResult alone = RunCommand({"sh", "-c", script}, {.directory = other.path()});
  ASSERT_EQ(
      Leakgate({"session", "start", session_, "--image", "git", "--image", "python3*"}).exit_code,
      0);
  const CommandResult traced = Leakgate({"session", "exec", session_, "--", "sh", "-c", script},
                                        {.directory = directory_.path()});
  EXPECT_EQ(traced.exit_code, alone.exit_code);
  EXPECT_EQ(traced.standard_output, alone.standard_output);
  EXPECT_EQ(traced.standard_error, alone.standard_error);

  std::vector<std::string> images;
  for (const Json& process : Processes()) {
    EXPECT_EQ(process["state"], "ended");
    EXPECT_EQ(process["drops"], 0);
    EXPECT_GT(process["allocated"]["blocks"], 100);
    images.push_back(std::filesystem::path(process["path"].get<std::string>()).filename());
  }
  EXPECT_THAT(images, testing::Contains("git").Times(testing::Ge(4)));
  EXPECT_THAT(images, testing::Contains(testing::StartsWith("python3")));
}

TEST_F(RealProgramsTest, SqliteByName) {
  if (!HasProgram("sqlite3")) GTEST_SKIP() << "there is no sqlite3";
  const std::string sql =
      "create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all "
      "select i + 1 from n where i < 20000) insert into t select i, 'text ' || i from n; create "
      "index j on t(b); select count(*), sum(length(b)), min(b) from t; select * from nothing;";
  const CommandResult alone = RunCommand({"sqlite3", ":memory:", sql});
  const CommandResult traced =
      Leakgate({"session", "start", session_, "--image", "sqlite3", "--stacks",
                "alloc,realloc,free", "--", "sqlite3", ":memory:", sql});
  EXPECT_EQ(traced.exit_code, alone.exit_code);
  EXPECT_EQ(traced.standard_output, alone.standard_output);
  EXPECT_EQ(traced.standard_error, alone.standard_error);
  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0]["drops"], 0);
  EXPECT_GT(processes[0]["allocated"]["blocks"], 1000);
}

// A tree of Node.js three levels deep: each forks, which executes Node.js again. It has
// threads of its own, and makes code while it runs, for which there is no unwind information.
TEST_F(RealProgramsTest, ATreeOfNodeByName) {
  if (!HasProgram("node")) GTEST_SKIP() << "there is no node";
  const std::string script = directory_.Write("tree.js", R"js(
const { fork } = require('child_process');
const depth = Number(process.argv[2] || 0);
const kept = Array.from({ length: 1000 }, (_, i) => Buffer.alloc(100, i % 256));
const sum = kept.reduce((all, b) => all + b[0], 0);
if (depth === 2) { process.send({ depth, sums: [sum] }); process.exit(0); }
let open = 2;
const sums = [sum];
for (let i = 0; i < 2; i++) {
  const child = fork(__filename, [String(depth + 1)]);
  child.on('message', (m) => sums.push(...m.sums));
  child.on('close', (code) => {
    sums.push(code);
    if (--open === 0) {
      if (process.send) process.send({ sums }); else console.log(sums.length, sums.sort().join(' '));
      process.disconnect?.();
    }
  });
}
)js");
  const CommandResult alone = RunCommand({"node", script});
  const CommandResult traced =
      Leakgate({"session", "start", session_, "--image", "node", "--", "node", script});
  EXPECT_EQ(traced.exit_code, 0);
  EXPECT_EQ(traced.standard_output, alone.standard_output);
  EXPECT_EQ(traced.standard_error, alone.standard_error);
  const Json processes = Processes();
  EXPECT_THAT(processes, SizeIs(7));
  for (const Json& process : processes) {
    EXPECT_EQ(process["state"], "ended");
    EXPECT_EQ(process["drops"], 0) << process;
    EXPECT_GT(process["allocated"]["blocks"], 1000);
  }
}

// Its allocator is in its executable. Its zygotes fork without executing: these are not traced.
TEST_F(RealProgramsTest, ChromiumByName) {
  if (!HasProgram("chromium")) GTEST_SKIP() << "there is no chromium";
  const std::string page = directory_.Write(
      "page.html", "<p id=p></p><script>p.textContent = [1, 2, 3].map(x => x * x)</script>");
  const std::vector<std::string> command = {
      "chromium",      "--headless", "--no-sandbox",
      "--disable-gpu", "--dump-dom", "--user-data-dir=" + directory_.File("profile"),
      "file://" + page};
  const CommandResult alone = RunCommand(command);
  std::vector<std::string> traced = {"session", "start", session_, "--image", "chromium", "--"};
  traced.insert(traced.end(), command.begin(), command.end());
  const CommandResult run = Leakgate(traced);
  EXPECT_EQ(run.exit_code, alone.exit_code);
  EXPECT_EQ(run.standard_output, alone.standard_output);
  EXPECT_THAT(run.standard_output, testing::HasSubstr("1,4,9"));
  const Json processes = Processes();
  EXPECT_THAT(processes, testing::Not(testing::IsEmpty()));
  std::int64_t most_blocks = 0;
  for (const Json& process : processes) {
    EXPECT_EQ(process["state"], "ended") << process;
    const auto blocks = process["allocated"]["blocks"].get<std::int64_t>();
    // Functions of its own that have no names, such as UncheckedFree, free some of them.
    EXPECT_LE(process["drops"].get<std::int64_t>(), blocks / 1000) << process;
    most_blocks = std::max(most_blocks, blocks);
  }
  EXPECT_GT(most_blocks, 100'000);
}

// Attached to again and again while it computes, until that has been often enough.
TEST_F(RealProgramsTest, PerlByPid) {
  constexpr const char* kScript = R"sh(
perl -e 'until (-e "enough") {
  my (%seen, $sum);
  for my $i (1 .. 100000) { $seen{$i % 1000} = "text $i"; $sum += length $seen{$i % 1000}; }
  $sum == 988895 or die "wrong: $sum";
}
print "right\n";' > output & program=$!
times=0
for try in $(seq 60); do
  [ $times = 20 ] && break
  "$LEAKGATE" session start $SESSION --pid $program && "$LEAKGATE" session stop $SESSION &&
    times=$((times + 1))
done > told.txt 2>&1
touch enough
wait $program
echo $? $(cat output) $times
)sh";
  const CommandResult run = RunCommand(
      {"sh", "-c", kScript}, {.environment = {"LEAKGATE=" + LeakgatePath(), "SESSION=" + session_},
                              .directory = directory_.path()});
  EXPECT_EQ(run.standard_output, "0 right 20\n") << ReadFile(directory_.File("told.txt"));
}

}  // namespace
}  // namespace leakgate::test
