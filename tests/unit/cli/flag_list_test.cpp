#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "runner/cli/heap_tracing/image_session.h"

namespace leakgate {
namespace {

FlagSurvey SomeSurvey() {
  const JournalEntry entry = {.image = {"a.exe"},
                              .former = NumberValue(2),
                              .ours = NumberValue(3),
                              .is_changing = false,
                              .holders = {{"web", "me\x1b[2J", 7, 1'790'000'000}}};
  JournalEntry taken = entry;
  taken.image = {"b.exe", "P!A"};
  return {.flags = {{.image = entry.image, .now = entry.ours, .entry = entry},
                    {.image = taken.image, .now = NumberValue(8), .entry = taken},
                    {.image = {"c.exe"}, .now = NumberValue(1), .change_seconds = 1'790'000'000}},
          .problems = {"one"}};
}

TEST(FlagListTest, TellsWhatIsSetByWhomAndSinceWhen) {
  EXPECT_EQ(FlagListText(SomeSurvey()),
            "a.exe: TracingFlags 0x3, before: 0x2\n"
            "  session web, by me\\x1b[2J (PID 7), since 2026-09-21 14:13:20 UTC\n"
            "b.exe:P!A: TracingFlags 0x8, before: 0x2, changed by somebody else: was set to 0x3\n"
            "  session web, by me\\x1b[2J (PID 7), since 2026-09-21 14:13:20 UTC\n"
            "c.exe: TracingFlags 0x1\n"
            "  not by leakgate, not after 2026-09-21 14:13:20 UTC\n");
  EXPECT_EQ(FlagListText({}), "no image is traced by its name\n");
}

TEST(FlagListTest, TellsTheSameToMachines) {
  const auto body = nlohmann::json::parse(FlagListJson(SomeSurvey()));

  ASSERT_EQ(body["images"].size(), 3u);
  EXPECT_EQ(body["images"][0]["is_ours"], true);
  EXPECT_EQ(body["images"][1]["application"], "P!A");
  EXPECT_EQ(body["images"][1]["is_ours"], false);
  EXPECT_EQ(body["images"][2].contains("sessions"), false);
  EXPECT_EQ(body["problems"][0], "one");
  const auto with_others = nlohmann::json::parse(FlagListJson({}, R"({"runs": [1]})"));
  EXPECT_EQ(with_others["runs"][0], 1);
  EXPECT_TRUE(with_others["images"].empty());
}

TEST(ImageSessionOptionsTest, NamesASessionAndTakesNoProgram) {
  ImageSessionStartCommand start = {.name = "web", .images = {{"a.exe"}}};
  EXPECT_TRUE(Complete(start, {}));
  EXPECT_EQ(Complete(start, {"a.exe"}).error().exit_code, ExitCode::kUsage);
  start.images.clear();
  EXPECT_EQ(Complete(start, {}).error().exit_code, ExitCode::kUsage);
  ImageSessionStopCommand stop;
  EXPECT_EQ(Complete(stop, {}).error().exit_code, ExitCode::kUsage);
  EXPECT_FALSE(ParseImageSessionName("NAME", "a b"));
  EXPECT_FALSE(ParseImageSessionName("NAME", ""));
}

}  // namespace
}  // namespace leakgate
