
#include <gmock/gmock.h>

#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SessionOptionsTest, StartsASession) {
  const auto start =
      Parse<SessionStartCommand>({"session", "start", "web", "--image", "nginx", "--image",
                                  "python3:a.py", "--pid", "12", "--stack-depth", "32"});
  EXPECT_EQ(start.start.name, "web");
  EXPECT_THAT(start.start.scope.images,
              ElementsAre(ImageSelector{"nginx", ""}, ImageSelector{"python3", "a.py"}));
  EXPECT_THAT(start.start.scope.pids, ElementsAre(12));
  EXPECT_EQ(start.start.stack_depth, 32U);
  EXPECT_THAT(start.program, IsEmpty());
}

TEST(SessionOptionsTest, StartsASessionThatReachesFurtherForATime) {
  const auto start = Parse<SessionStartCommand>(
      {"session", "start", "web", "--image", "nginx", "--this-user", "--expire", "8h"});
  EXPECT_EQ(start.start.reach, SessionReach::kThisUser);
  EXPECT_EQ(start.start.length, std::chrono::hours(8));
  EXPECT_THAT(ErrorOf({"session", "start", "web", "--pid", "1", "--this-user"}),
              HasSubstr("--system and --this-user are for --image"));
}

TEST(SessionOptionsTest, KeepsSnapshotsInABoundedRing) {
  const auto start =
      Parse<SessionStartCommand>({"session", "start", "web", "--image", "nginx", "--snapshots",
                                  "ring", "--every", "30s", "--keep", "7", "--keep-bytes", "2GiB"});
  EXPECT_EQ(start.start.ring.directory, "ring");
  EXPECT_EQ(start.start.ring.every, std::chrono::seconds(30));
  EXPECT_EQ(start.start.ring.most_files, 7U);
  EXPECT_EQ(start.start.ring.most_bytes, std::uint64_t{2} << 30U);
  for (const char* const size :
       {"0", "", "1B", "-1", "1KB", "K", "99999999999999999999", "9999999T"}) {
    EXPECT_THAT(ErrorOf({"session", "start", "web", "--image", "nginx", "--snapshots", "ring",
                         "--keep-bytes", size}),
                HasSubstr("write a size above 0"))
        << size;
  }
}

TEST(SessionOptionsTest, WritesUnitsThatTakeNoWordForAnother) {
  SessionUnitCommand command{.name = "web", .images = {{"a b", "%c$d\"e\\"}}, .service = "x"};
  const std::vector<UnitFile> files = UnitFilesOf(command, "/opt/leak gate");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "leakgate-web.service");
  EXPECT_THAT(files[0].text, HasSubstr("\nExecStart=\"/opt/leak gate\" session start web --image "
                                       "\"a b:%%c$$d\\\"e\\\\\" --system "));
  EXPECT_EQ(files[1].path, "x.service.d/leakgate.conf");
  command.place = UnitPlace::kContainer;
  command.images = {{"it's", ""}};
  EXPECT_THAT(EntrypointOf(command, "/leakgate"), HasSubstr(" --image 'it'\\''s' "));
}

TEST(SessionOptionsTest, ExecutesAProgramBelowASession) {
  EXPECT_THAT(
      Parse<SessionStartCommand>({"session", "start", "a", "--image", "x", "--", "make", "-j2"})
          .program,
      ElementsAre("make", "-j2"));
  const auto exec = Parse<SessionExecCommand>({"session", "exec", "a", "--", "make", "--json"});
  EXPECT_EQ(exec.name, "a");
  EXPECT_THAT(exec.program, ElementsAre("make", "--json"));
}

TEST(SessionOptionsTest, UpdatesASession) {
  const auto update =
      Parse<SessionUpdateCommand>({"session", "update", "a", "--add-image", "x", "--add-pid", "1",
                                   "--drop-image", "y", "--drop-pid", "2"});
  EXPECT_THAT(update.add.images, ElementsAre(ImageSelector{"x", ""}));
  EXPECT_THAT(update.add.pids, ElementsAre(1));
  EXPECT_THAT(update.drop.images, ElementsAre(ImageSelector{"y", ""}));
  EXPECT_THAT(update.drop.pids, ElementsAre(2));
}

TEST(SessionOptionsTest, QueriesListsAndStops) {
  EXPECT_EQ(Parse<SessionQueryCommand>({"session", "query", "a", "--json"}).output,
            OutputForm::kJson);
  EXPECT_EQ(Parse<SessionListCommand>({"session", "list"}).output, OutputForm::kText);
  EXPECT_EQ(Parse<SessionStopCommand>({"session", "stop", "a"}).name, "a");
}

TEST(SessionOptionsTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf({"session"}), HasSubstr("there are start, exec, update"));
  EXPECT_THAT(ErrorOf({"session", "start"}), HasSubstr("name one session"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "b", "--image", "x"}), HasSubstr("name one"));
  EXPECT_THAT(ErrorOf({"session", "start", "a"}), HasSubstr("nothing to trace"));
  EXPECT_THAT(ErrorOf({"session", "start", "a/b", "--image", "x"}),
              HasSubstr("'a/b': not a session's name"));
  EXPECT_THAT(ErrorOf({"session", "start", std::string(65, 'a'), "--image", "x"}),
              HasSubstr("64 at most"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "--image", ":"}), HasSubstr("--image ':'"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "--pid", "12x"}), HasSubstr("'12x': not a PID"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "--pid", "0"}), HasSubstr("'0': not a PID"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "--image", "x", "--stack-depth", "0"}),
              HasSubstr("--stack-depth '0'"));
  EXPECT_THAT(ErrorOf({"session", "exec", "a"}), HasSubstr("no program to execute"));
  EXPECT_THAT(ErrorOf({"session", "stop", "a", "--", "x"}), HasSubstr("leave out what follows"));
  EXPECT_THAT(ErrorOf({"session", "query", "a", "--surprise"}), HasSubstr("--surprise"));
}

TEST(SessionOptionsTest, ChoosesWhoseStacksAreRecorded) {
  const auto events = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"session", "start", "a", "--image", "x"});
    return Parse<SessionStartCommand>(options).start.stack_events;
  };
  EXPECT_EQ(events({}), kStacksOfAlloc | kStacksOfRealloc);
  EXPECT_EQ(events({"--stacks", "free"}), kStacksOfFree);
  EXPECT_EQ(events({"--stacks=free,alloc,realloc"}), kAllStackEvents);
  EXPECT_EQ(events({"--stacks=none"}), 0U);
}

TEST(SessionOptionsTest, SaysWhichStackEventsThereAre) {
  const auto error = [](const char* text) {
    return ErrorOf({"session", "start", "a", "--image", "x", std::string("--stacks=") + text});
  };
  EXPECT_THAT(error("foo"), HasSubstr("invalid stack event 'foo': there are alloc, realloc, free"));
  EXPECT_THAT(error("alloc, free"), HasSubstr("invalid stack event ' free'"));
  EXPECT_THAT(error("alloc,"), HasSubstr("invalid stack event ''"));
  EXPECT_THAT(error("alloc,none"), HasSubstr("invalid stack event 'none'"));
  EXPECT_THAT(error("Alloc"), HasSubstr("invalid stack event 'Alloc'"));
  EXPECT_THAT(error("free,alloc,free"), HasSubstr("duplicate stack event 'free'"));
  EXPECT_THAT(ErrorOf({"session", "start", "a", "--image", "x", "--stacks", ""}),
              HasSubstr("--stacks names no stack event"));
}

TEST(SessionOptionsTest, HelpsByTheCommand) {
  EXPECT_THAT(Parse<PrintCommand>({"session", "--help"}).text, HasSubstr("session start NAME"));
  EXPECT_THAT(Parse<PrintCommand>({"session", "start", "--help"}).text, HasSubstr("--image"));
}

}  // namespace
}  // namespace leakgate
