// The text of the JSON report is what the JSON library would write of the same values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "runner/report/json/json_report.h"
#include "runner/report/json/json_text.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string StringText(const std::string& value) {
  std::string text;
  AppendJsonString(value, text);
  return text;
}

std::string FractionText(double value) {
  std::string text;
  AppendJsonFraction(value, text);
  return text;
}

TEST(WriteJsonTest, IsLaidOutAsTheLibraryLaysItOut) {
  for (RunResult run : {sample::RunOfEverything(), sample::PassingRun(), RunResult{}}) {
    const std::string text = ToJson(run);
    EXPECT_EQ(text, Json::parse(text).dump(1) + '\n');
  }
}

TEST(WriteJsonTest, EscapesWhatStringsMayNotHave) {
  for (const std::string value :
       {"", "plain ~", "\"quoted\\", "\b\f\n\r\t", "\x01\x1f\x7f", "gr\xc3\xbc\xc3\x9f", "a/b"}) {
    EXPECT_EQ(StringText(value), Json(value).dump());
  }
  EXPECT_EQ(StringText("cut \xc3"), "\"cut \xef\xbf\xbd\"");
}

TEST(WriteJsonTest, EscapesNamesThatAnotherReportHasGiven) {
  RunResult run;
  run.tracing.drops = {{"a \"reason\"\n", 3}};
  EXPECT_EQ(Json::parse(ToJson(run))["tracing"]["drops"]["a \"reason\"\n"], 3);
}

TEST(WriteJsonTest, TellsAFractionEvenOfAWholeNumber) {
  for (const double value : {0.0, 1.0, -2.0, 0.5, 1e-9, 1.25e-5, 123456.789, 3e8}) {
    EXPECT_EQ(FractionText(value), Json(value).dump());
  }
  EXPECT_EQ(FractionText(std::numeric_limits<double>::infinity()), "null");
}

TEST(WriteJsonTest, TellsTheLargestNumbers) {
  RunResult run;
  run.tracing.stacks_proved = std::numeric_limits<std::uint64_t>::max();
  run.windows.resize(1);
  run.windows[0].peak_live_bytes = std::numeric_limits<std::int64_t>::min();
  const Json json = Json::parse(ToJson(run));
  EXPECT_EQ(json["tracing"]["stacks"]["proved"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json["windows"][0]["peak_live_bytes"], std::numeric_limits<std::int64_t>::min());
}

// A window's text is written in pieces.
TEST(WriteJsonTest, WritesManyWindowsOneAfterTheOther) {
  RunResult run;
  run.windows.resize(3000);
  for (std::size_t i = 0; i < run.windows.size(); ++i) {
    run.windows[i].name = "Suite.Test" + std::to_string(i);
  }
  const Json json = Json::parse(ToJson(run));
  ASSERT_EQ(json["windows"].size(), run.windows.size());
  for (std::size_t i = 0; i < run.windows.size(); ++i) {
    EXPECT_EQ(json["windows"][i]["name"], run.windows[i].name);
  }
}

}  // namespace
}  // namespace leakgate
