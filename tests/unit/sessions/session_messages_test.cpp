#include "runner/sessions/session_messages.h"

#include <gmock/gmock.h>

#include "runner/host/message_socket.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Json = nlohmann::json;

SessionStatus OneOfEach() {
  SessionStatus status;
  status.name = "web";
  status.owner_pid = 7;
  status.begin_seconds = 1'795'274'260;
  status.control = "leakgate-1";
  status.stack_depth = 64;
  status.stack_events = kStacksOfFree;
  status.untraced = 9;
  status.scope = {{{"nginx", ""}, {"python3", "a.py"}}, {12, 13}};
  status.forgotten = 3;
  status.watch = {SessionReach::kSystem, true, "why not", 17, {4, 5}};
  status.ring = {"/ring", 3, 4096, 8, "full", 2};
  status.kept_bytes = 11;
  status.most_kept_bytes = 12;
  status.failure = "no thread";
  status.expires_seconds = 1'795'274'999;
  ProcessStatus process;
  process.pid = 12;
  process.program = {"/usr/bin/nginx", {"nginx", "-g"}};
  process.state = ProcessState::kFailed;
  process.problem = "why";
  process.begin_seconds = 5;
  process.totals = {100, 10, 40, 4, 0, 0};
  process.drops = 2;
  status.processes.push_back(process);
  return status;
}

TEST(SessionMessagesTest, TellsAStatusAsItIs) {
  const SessionStatus sent = OneOfEach();
  const SessionStatus status = StatusFromJson(Json::parse(ToJson(sent).dump()));
  EXPECT_EQ(status.name, "web");
  EXPECT_EQ(status.owner_pid, 7);
  EXPECT_EQ(status.begin_seconds, 1'795'274'260);
  EXPECT_EQ(status.control, "leakgate-1");
  EXPECT_EQ(status.stack_depth, 64U);
  EXPECT_EQ(status.stack_events, kStacksOfFree);
  EXPECT_EQ(status.untraced, 9U);
  EXPECT_EQ(status.scope.images, sent.scope.images);
  EXPECT_THAT(status.scope.pids, ElementsAre(12, 13));
  EXPECT_EQ(status.forgotten, 3U);
  EXPECT_EQ(status.kept_bytes, 11U);
  EXPECT_EQ(status.most_kept_bytes, 12U);
  EXPECT_EQ(status.failure, "no thread");
  EXPECT_EQ(status.ring.without_last, 2U);
  EXPECT_EQ(status.watch.reach, SessionReach::kSystem);
  EXPECT_TRUE(status.watch.is_holding);
  EXPECT_EQ(status.watch.why_not_held, "why not");
  EXPECT_EQ(status.watch.unseen, 17U);
  EXPECT_THAT(status.watch.ran_before, ElementsAre(4, 5));
  EXPECT_EQ(status.ring.directory, "/ring");
  EXPECT_EQ(status.ring.files, 3U);
  EXPECT_EQ(status.ring.bytes, 4096U);
  EXPECT_EQ(status.ring.taken, 8U);
  EXPECT_EQ(status.ring.problem, "full");
  EXPECT_EQ(status.expires_seconds, 1'795'274'999);
  ASSERT_THAT(status.processes, SizeIs(1));
  const ProcessStatus& process = status.processes[0];
  EXPECT_EQ(process.pid, 12);
  EXPECT_EQ(process.program.path, "/usr/bin/nginx");
  EXPECT_THAT(process.program.arguments, ElementsAre("nginx", "-g"));
  EXPECT_EQ(process.state, ProcessState::kFailed);
  EXPECT_EQ(process.problem, "why");
  EXPECT_EQ(process.begin_seconds, 5);
  EXPECT_EQ(process.totals.allocated_bytes, 100U);
  EXPECT_EQ(process.totals.freed_blocks, 4U);
  EXPECT_EQ(process.drops, 2U);
}

TEST(SessionMessagesTest, KeepsEachState) {
  for (const auto state : {ProcessState::kTracing, ProcessState::kStarting, ProcessState::kFailed,
                           ProcessState::kDisabled, ProcessState::kEnded}) {
    SessionStatus status = OneOfEach();
    status.processes[0].state = state;
    EXPECT_EQ(StatusFromJson(ToJson(status)).processes[0].state, state) << WordOf(state);
  }
}

// The other end may be of another version, or hostile.
TEST(SessionMessagesTest, LeavesOutWhatIsOfAnotherType) {
  const SessionStatus status = StatusFromJson(
      {{"name", 5}, {"owner_pid", "x"}, {"scope", {{"images", 1}}}, {"stack_depth", 9}});
  EXPECT_EQ(status.name, "");
  EXPECT_EQ(status.owner_pid, 0);
  EXPECT_EQ(status.stack_depth, 9U);
  EXPECT_THAT(status.scope.images, IsEmpty());
}

TEST(SessionMessagesTest, SurvivesAnyPartOfAnotherType) {
  for (const Json& odd : {Json(), Json(1), Json("x"), Json::array({1}), Json({{"a", 1}})}) {
    Json body = ToJson(OneOfEach());
    for (const char* const key : {"scope", "processes", "name", "forgotten"}) {
      Json changed = body;
      changed[key] = odd;
      (void)StatusFromJson(changed);
    }
    (void)StatusFromJson(odd);
    body["processes"][0] = odd;
    (void)StatusFromJson(body);
  }
}

TEST(SessionMessagesTest, NamesWhatIsNoImage) {
  const Expected<SessionScope> scope = ScopeFromJson({{"images", {"a", ":"}}});
  ASSERT_FALSE(scope);
  EXPECT_EQ(scope.error().exit_code, ExitCode::kUsage);
}

TEST(SessionMessagesTest, TellsAnErrorWithItsExitCode) {
  const auto usage = ErrorFromJson(ToJson(Error{"no", ExitCode::kUsage}));
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->message, "no");
  EXPECT_EQ(usage->exit_code, ExitCode::kUsage);
  EXPECT_EQ(ErrorFromJson(ToJson(Error{"no", ExitCode::kInconclusive}))->exit_code,
            ExitCode::kInconclusive);
  EXPECT_FALSE(ErrorFromJson(Json::object()));
}

}  // namespace
}  // namespace leakgate
