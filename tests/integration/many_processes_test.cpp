// A session of hundreds of processes at once; more than its owner may open files for; and one
// that is stopped while they start.
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;
using Json = nlohmann::json;

// Programs below the session read from a FIFO, and end when the script has closed descriptor 9.
constexpr const char* kBegin = R"sh(
mkfifo fifo
exec 9<> fifo
query() { "$LEAKGATE" session query $SESSION --json; }
count() { query | grep -c "\"state\": \"$1\""; }
# begin COUNT: so many at once; ends with them, by 0 if all of them do.
begin() {
  exec 9>&-  # in the background: of a shell of its own
  "$LEAKGATE" session exec $SESSION -- bash -c '
    for i in $(seq $1); do "$0" < fifo & done
    for job in $(jobs -p); do wait $job || exit 1; done' "$PROGRAM" $1
}
)sh";

class ManyProcessesTest : public testing::Test {
 protected:
  ~ManyProcessesTest() override { Leakgate({"session", "stop", session_}); }

  CommandResult RunScript(const std::string& script) const {
    return RunCommand({"bash", "-c", kBegin + script},
                      {
                          .environment = {"LEAKGATE=" + LeakgatePath(), "SESSION=" + session_,
                                          "PROGRAM=" + FixturePath("stack_events")},
                          .directory = directory_.path(),
                      });
  }
  Json Queried() const { return Json::parse(ReadFile(directory_.File("query.json"))); }

  const std::string session_ = "many-" + std::to_string(::getpid());
  const TemporaryDirectory directory_;
};

TEST_F(ManyProcessesTest, TracesThreeHundredAtOnce) {
  const CommandResult run = RunScript(R"sh(
"$LEAKGATE" session start $SESSION --image stack_events 2> /dev/null
begin 300 & all=$!
until [ "$(count tracing)" = 300 ]; do sleep 0.2; done
sleep 0.5; query > query.json
for pid in $(grep -o '"pid": [0-9]*' query.json | cut -d' ' -f2 | sed -n '1p;150p;300p'); do
  "$LEAKGATE" snapshot take --pid $pid -o $pid.snapshot 2> /dev/null && echo snapshot
done
"$LEAKGATE" session stop $SESSION && echo stopped
exec 9>&-
wait $all && echo ended
)sh");
  EXPECT_EQ(run.standard_output, "snapshot\nsnapshot\nsnapshot\nstopped\nended\n");
  EXPECT_EQ(run.standard_error, "");
  const Json processes = Queried()["processes"];
  ASSERT_THAT(processes, SizeIs(300));
  for (const Json& process : processes) {
    EXPECT_EQ(process["live"], processes[0]["live"]);
    EXPECT_EQ(process["drops"], 0);
  }
}

// Those that run go before those that have ended; the rest runs untraced, and that is told.
TEST_F(ManyProcessesTest, LeavesTheRestUntracedWhereTheOwnerMayOpenTooFewFiles) {
  const CommandResult run = RunScript(R"sh(
(ulimit -n 64; exec "$LEAKGATE" session start $SESSION --image stack_events 2> /dev/null)
begin 40 & all=$!
until [ $(($(count tracing) + $(count failed))) = 40 ]; do sleep 0.1; done
query > query.json
"$LEAKGATE" session query $SESSION > query.txt
"$LEAKGATE" session list | grep "^$SESSION " > list.txt
exec 9>&-
wait $all && echo ended
# More than there is room for beside those that ended: the room of connections that were open
# when the first of them came is theirs, too.
for i in $(seq 40); do "$LEAKGATE" session exec $SESSION -- "$PROGRAM" < /dev/null; done
query | tr -d '\n' | grep -o '"state": "[a-z]*"' | sort | uniq -c | sed 's/^ *[0-9]* //' 
query > later.json
"$LEAKGATE" session stop $SESSION && echo stopped
)sh");
  EXPECT_EQ(run.standard_output, "ended\n\"state\": \"ended\"\n\"state\": \"failed\"\nstopped\n");
  EXPECT_EQ(run.standard_error, "");
  const Json status = Queried();
  const int untraced = status["untraced"].get<int>();
  EXPECT_GT(untraced, 20);
  EXPECT_LT(untraced, 36);
  EXPECT_THAT(ReadFile(directory_.File("query.txt")),
              AllOf(HasSubstr("failed    it is not traced: the session's owner may open 64 files "
                              "at most, which is enough for no further process that runs"),
                    HasSubstr("  " + std::to_string(untraced) + " processes could not be traced")));
  EXPECT_THAT(ReadFile(directory_.File("list.txt")),
              HasSubstr(std::to_string(40 - untraced) + " live, " + std::to_string(untraced) +
                        " not traced"));
  const Json later = Json::parse(ReadFile(directory_.File("later.json")));
  EXPECT_EQ(later["untraced"], untraced);
  EXPECT_THAT(later["forgotten"], AllOf(Gt(0), Le(40)));
}

// Nobody would look at what they record.
TEST_F(ManyProcessesTest, LeavesNoneTracedThatStartsWhileItIsStopped) {
  const CommandResult run = RunScript(R"sh(
"$LEAKGATE" session start $SESSION --image stack_events 2> /dev/null
query > query.json
begin 150 & all=$!
until [ "$(count tracing)" -ge 30 ]; do sleep 0.02; done
"$LEAKGATE" session stop $SESSION && echo stopped
"$LEAKGATE" session list --json > list.json
exec 9>&-
wait $all && echo ended
)sh");
  EXPECT_EQ(run.standard_output, "stopped\nended\n");
  EXPECT_EQ(run.standard_error, "");
  const Json owner = Queried()["owner_pid"];
  for (const Json& orphan : Json::parse(ReadFile(directory_.File("list.json")))["orphans"]) {
    EXPECT_NE(orphan["owner_pid"], owner) << orphan;
  }
}

}  // namespace
}  // namespace leakgate::test
