
#include <gmock/gmock.h>

#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(SnapshotTakeOptionsTest, TakesOneSnapshot) {
  const auto plain = Parse<SnapshotTakeCommand>({"snapshot", "take", "--pid", "12"});
  EXPECT_EQ(plain.pid, 12);
  EXPECT_EQ(plain.output, "");
  EXPECT_EQ(plain.session, "");
  EXPECT_EQ(plain.care, SnapshotCare::kRunning);
  const auto full = Parse<SnapshotTakeCommand>(
      {"snapshot", "take", "--pid", "12", "-o", "a.snapshot", "--session", "s", "--consistent"});
  EXPECT_EQ(full.output, "a.snapshot");
  EXPECT_EQ(full.session, "s");
  EXPECT_EQ(full.care, SnapshotCare::kConsistent);
}

TEST(SnapshotTakeOptionsTest, TakesOneEverySoOften) {
  const auto periodic =
      Parse<SnapshotPeriodicCommand>({"snapshot", "periodic", "--pid", "12", "--every", "5s",
                                      "--count", "3", "--stop-after", "9", "-o", "dir"});
  EXPECT_EQ(periodic.every, milliseconds(5000));
  EXPECT_EQ(periodic.kept, 3U);
  EXPECT_EQ(periodic.most, 9U);
  EXPECT_EQ(periodic.directory, "dir");
}

TEST(SnapshotTakeOptionsTest, ReadsDurationsInTheirUnits) {
  const auto every = [](const char* text) {
    return Parse<SnapshotPeriodicCommand>({"snapshot", "periodic", "--pid", "1", "--every", text})
        .every;
  };
  EXPECT_EQ(every("500ms"), milliseconds(500));
  EXPECT_EQ(every("0.5s"), milliseconds(500));
  EXPECT_EQ(every("2min"), milliseconds(120'000));
  EXPECT_EQ(every("1h"), milliseconds(3'600'000));
  EXPECT_EQ(every("3"), milliseconds(3000));
}

TEST(SnapshotTakeOptionsTest, ConfiguresAPidOrAnImage) {
  const auto pid = Parse<SnapshotConfigCommand>({"snapshot", "config", "--pid", "12", "enable"});
  EXPECT_EQ(pid.setting, SnapshotSetting::kEnable);
  EXPECT_EQ(pid.pid, 12);
  EXPECT_EQ(pid.session, "default");
  const auto image = Parse<SnapshotConfigCommand>(
      {"snapshot", "config", "--image", "perl:a.pl", "disable", "--session", "s"});
  EXPECT_EQ(image.setting, SnapshotSetting::kDisable);
  EXPECT_EQ(image.image, (ImageSelector{"perl", "a.pl"}));
  EXPECT_EQ(image.session, "s");
  EXPECT_EQ(Parse<SnapshotConfigCommand>({"snapshot", "config", "--pid", "1", "query"}).setting,
            SnapshotSetting::kQuery);
}

TEST(SnapshotTakeOptionsTest, ChoosesWhoseStacksAreRecorded) {
  const std::vector<std::string> enable = {"snapshot", "config", "--pid", "1", "enable"};
  EXPECT_EQ(Parse<SnapshotConfigCommand>(enable).stack_events, std::nullopt);
  EXPECT_EQ(Parse<SnapshotConfigCommand>(
                {"snapshot", "config", "--pid", "1", "enable", "--stacks", "realloc"})
                .stack_events,
            kStacksOfRealloc);
}

TEST(SnapshotTakeOptionsTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf({"snapshot", "config", "--pid", "1", "query", "--stacks", "free"}),
              HasSubstr("--stacks is for leakgate snapshot config enable"));
  EXPECT_THAT(ErrorOf({"snapshot", "config", "--pid", "1", "enable", "--stacks", "nothing"}),
              HasSubstr("invalid stack event 'nothing'"));
  EXPECT_THAT(ErrorOf({"snapshot", "take"}), HasSubstr("no process; name it"));
  EXPECT_THAT(ErrorOf({"snapshot", "take", "--pid", "x"}), HasSubstr("'x': not a PID"));
  EXPECT_THAT(ErrorOf({"snapshot", "take", "--pid", "1", "--session", "a/b"}),
              HasSubstr("not a session's name"));
  EXPECT_THAT(ErrorOf({"snapshot", "take", "--pid", "1", "surprise"}), HasSubstr("surprise"));
  EXPECT_THAT(ErrorOf({"snapshot", "periodic", "--pid", "1"}), HasSubstr("how often?"));
  for (const char* const text : {"0", "5x", "s", "-1s", "1e99h", "0.1ms"}) {
    EXPECT_THAT(ErrorOf({"snapshot", "periodic", "--pid", "1", "--every", text}),
                HasSubstr("not a duration"))
        << text;
  }
  EXPECT_THAT(ErrorOf({"snapshot", "periodic", "--pid", "1", "--every", "1s", "--count", "0"}),
              HasSubstr("--count '0': not a number above 0"));
  EXPECT_THAT(ErrorOf({"snapshot", "config", "enable"}), HasSubstr("name one PID or one image"));
  EXPECT_THAT(ErrorOf({"snapshot", "config", "--pid", "1", "--image", "a", "enable"}),
              HasSubstr("name one PID or one image"));
  EXPECT_THAT(ErrorOf({"snapshot", "config", "--pid", "1", "on"}),
              HasSubstr("'on': write enable, disable or query"));
}

}  // namespace
}  // namespace leakgate
