// Profiles of the outstanding blocks: folded stacks, pprof, speedscope.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/report/formats/pprof_encoding.h"
#include "tests/support/command.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using sample::Written;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

WindowResult With(std::vector<Finding> findings, std::string name = "A.B") {
  WindowResult window = sample::PassingTest(std::move(name));
  window.findings = std::move(findings);
  return window;
}

std::string Folded(const std::vector<RunResult>& runs) {
  return Written(ReportFormat::kFolded, runs);
}

TEST(FoldedTest, BeginsWithTheTestAndEndsWithTheBytes) {
  EXPECT_EQ(Folded({sample::RunOf({With({sample::SteadyFinding()})})}),
            "A.B;HttpTest_KeepAlive_Test::TestBody;net::SessionCache::Put;strdup 48\n");
}

TEST(FoldedTest, AddsUpEqualStacksAndSorts) {
  const RunResult run = sample::RunOf({With({sample::SteadyFinding(), sample::SteadyFinding()}),
                                       With({sample::SteadyFinding()}, "A.A")});
  EXPECT_EQ(Folded({run, run}),
            "A.A;HttpTest_KeepAlive_Test::TestBody;net::SessionCache::Put;strdup 96\n"
            "A.B;HttpTest_KeepAlive_Test::TestBody;net::SessionCache::Put;strdup 192\n");
}

TEST(FoldedTest, LeavesOutTheFrameworksOwn) {
  EXPECT_THAT(Folded({sample::RunOf({With({sample::FrameworkFinding({160, 1}, "gmock")})})}),
              IsEmpty());
}

TEST(FoldedTest, NoNamePartsFramesOrLines) {
  Finding finding = sample::SteadyFinding();
  finding.stack = {sample::FrameOf("a;b\nc\x1b")};
  finding.user_frame.reset();
  EXPECT_EQ(Folded({sample::RunOf({With({finding})})}), "A.B;a:b\\x0ac\\x1b 48\n");
}

TEST(SpeedscopeTest, HasAProfileOfBytesAndOneOfBlocks) {
  const auto report = nlohmann::json::parse(
      Written(ReportFormat::kSpeedscope, {sample::RunOf({With({sample::SteadyFinding()})})}));

  const nlohmann::json& frames = report.at("shared").at("frames");
  EXPECT_EQ(frames[0], (nlohmann::json{{"name", "A.B"}}));
  EXPECT_EQ(frames[2],
            (nlohmann::json{
                {"name", "net::SessionCache::Put"}, {"file", "src/net/session.cc"}, {"line", 57}}));
  const nlohmann::json& bytes = report.at("profiles").at(0);
  EXPECT_EQ(bytes["unit"], "bytes");
  EXPECT_EQ(bytes["samples"], nlohmann::json({{0, 1, 2, 3}}));
  EXPECT_EQ(bytes["weights"], nlohmann::json({48}));
  EXPECT_EQ(bytes["endValue"], 48);
  EXPECT_EQ(report.at("profiles").at(1)["weights"], nlohmann::json({2}));
}

// The profile as text, by the published description of the format.
std::string Decoded(const RunResult& run) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.Write("profile", Written(ReportFormat::kPprof, {run}));
  return test::RunCommand({"sh", "-c",
                           "gzip -dc \"$1\" | protoc --proto_path=\"$2\" "
                           "--decode=perftools.profiles.Profile profile.proto",
                           "sh", file, LEAKGATE_SOURCE_DIR "/tests/schemas"})
      .standard_output;
}

TEST(PprofTest, CountsBlocksAndBytes) {
  const std::string text = Decoded(sample::RunOf({With({sample::SteadyFinding()})}));
  EXPECT_THAT(text, HasSubstr("  value: 2\n  value: 48\n"));
  EXPECT_THAT(text, HasSubstr("string_table: \"inuse_objects\"\n"));
  EXPECT_THAT(text, HasSubstr("string_table: \"inuse_space\"\n"));
}

TEST(PprofTest, HasInlinedFramesAsLinesOfOneLocation) {
  const std::string text = Decoded(sample::RunOf({With({sample::SteadyFinding()})}));
  // strdup is a location; what Put was inlined into is the other, with Put's line first.
  EXPECT_THAT(text, HasSubstr("sample {\n  location_id: 1\n  location_id: 2\n  value"));
  EXPECT_THAT(text, HasSubstr("  line {\n    function_id: 2\n    line: 57\n  }\n"
                              "  line {\n    function_id: 3\n    line: 29\n  }\n"));
}

TEST(PprofTest, LabelsTestComponentAndDisposition) {
  WindowResult window = With({sample::SteadyFinding()});
  sample::ChangeBudget(window, [](AppliedBudget& budget) { budget.component = "net"; });
  const std::string text = Decoded(sample::RunOf({window}));
  for (const char* const word : {"test", "A.B", "component", "net", "disposition", "steady"}) {
    EXPECT_THAT(text, HasSubstr("string_table: \"" + std::string(word) + "\"\n"));
  }
}

TEST(PprofTest, TellsThatAllSymbolsAreKnown) {
  const std::string text = Decoded(sample::RunOf({With({sample::SteadyFinding()})}));
  EXPECT_THAT(text, HasSubstr("  has_functions: true\n  has_filenames: true\n"
                              "  has_line_numbers: true\n  has_inline_frames: true\n"));
  EXPECT_THAT(text, HasSubstr("  memory_limit: 6700\n"));  // 0x1a2b + 1
}

TEST(ProtobufMessageTest, EncodesAsThePublishedExamplesDo) {
  ProtobufMessage message;
  message.AddNumber(1, 150);
  message.AddNumber(3, 0);
  EXPECT_EQ(message.bytes(), "\x08\x96\x01");

  ProtobufMessage text;
  text.AddBytes(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");

  ProtobufMessage packed;
  packed.AddPacked(6, {3, 270, 86942});
  EXPECT_EQ(packed.bytes(), "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
}

TEST(GzipTest, HasNoTimeSoThatTheSameTextGivesTheSameBytes) {
  const std::string bytes = Gzip("text");
  EXPECT_THAT(bytes, StartsWith(std::string("\x1f\x8b\x08\0\0\0\0\0", 8)));
  EXPECT_EQ(bytes, Gzip("text"));
}

TEST(GzipTest, TakesNothingAndMuch) {
  const test::TemporaryDirectory directory;
  for (const std::string& text : {std::string(), std::string(1 << 22, 'x')}) {
    const std::string file = directory.Write("a.gz", Gzip(text));
    EXPECT_TRUE(test::RunCommand({"gzip", "-dc", file}).standard_output == text);
  }
}

}  // namespace
}  // namespace leakgate
