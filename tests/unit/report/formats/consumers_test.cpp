// Each format is what its readers take: held to its published schema, or read by the
// reader itself. Of everything that a run may hold, of nothing, and of hostile names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/json_schema.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using sample::Written;
using test::CommandResult;
using test::RunCommand;
using test::SchemaFileErrors;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFlameGraph = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl";

struct Input {
  const char* name;
  std::vector<RunResult> runs;
};

class ConsumersTest : public testing::TestWithParam<Input> {
 protected:
  static std::string Write(ReportFormat format) { return Written(format, GetParam().runs); }
  static nlohmann::json Json(ReportFormat format) { return nlohmann::json::parse(Write(format)); }
};

TEST_P(ConsumersTest, SarifKeepsToItsSchema) {
  EXPECT_THAT(SchemaFileErrors(Json(ReportFormat::kSarif), "tests/schemas/sarif-2.1.0.schema.json"),
              IsEmpty());
}

TEST_P(ConsumersTest, SpeedscopeKeepsToItsSchema) {
  EXPECT_THAT(
      SchemaFileErrors(Json(ReportFormat::kSpeedscope), "tests/schemas/speedscope.schema.json"),
      IsEmpty());
}

TEST_P(ConsumersTest, GitlabKeepsToItsSchema) {
  EXPECT_THAT(SchemaFileErrors(Json(ReportFormat::kGitlab),
                               "tests/schemas/gitlab-code-quality.schema.json"),
              IsEmpty());
}

TEST_P(ConsumersTest, JunitKeepsToItsSchema) {
  const CommandResult xmllint = RunCommand(
      {"xmllint", "--noout", "--schema", LEAKGATE_SOURCE_DIR "/tests/schemas/junit.xsd", "-"},
      {.standard_input = Write(ReportFormat::kJunit)});
  EXPECT_EQ(xmllint.exit_code, 0) << xmllint.standard_error;
}

TEST_P(ConsumersTest, PprofIsReadByTheProtobufCompiler) {
  const test::TemporaryDirectory directory;
  const std::string profile = directory.Write("profile.pb.gz", Write(ReportFormat::kPprof));
  const CommandResult protoc = RunCommand({"sh", "-c",
                                           "gzip -dc \"$1\" | protoc --proto_path=\"$2\" "
                                           "--decode=perftools.profiles.Profile profile.proto",
                                           "sh", profile, LEAKGATE_SOURCE_DIR "/tests/schemas"});
  EXPECT_EQ(protoc.exit_code, 0) << protoc.standard_error;
  EXPECT_THAT(protoc.standard_error, IsEmpty());
  EXPECT_THAT(protoc.standard_output, HasSubstr("string_table: \"\"\n"));
  EXPECT_THAT(protoc.standard_output, HasSubstr("string_table: \"inuse_space\"\n"));
}

TEST_P(ConsumersTest, FoldedIsReadByFlameGraph) {
  const std::string folded = Write(ReportFormat::kFolded);
  const CommandResult flame_graph =
      RunCommand({"perl", kFlameGraph, "--countname", "bytes"}, {.standard_input = folded});
  const bool is_empty = folded.empty();  // which it says, and takes for an error
  EXPECT_EQ(flame_graph.exit_code == 0, !is_empty) << flame_graph.standard_error;
  if (is_empty) return;
  EXPECT_THAT(flame_graph.standard_error, IsEmpty());
  EXPECT_THAT(flame_graph.standard_output, HasSubstr("</svg>"));
}

TEST(SchemasTest, NoticeWhatIsWrong) {
  const std::vector<RunResult> runs = {sample::RunOfEverything()};
  nlohmann::json sarif = nlohmann::json::parse(Written(ReportFormat::kSarif, runs));
  sarif["runs"][0]["results"][0]["level"] = "surprise";
  EXPECT_THAT(SchemaFileErrors(sarif, "tests/schemas/sarif-2.1.0.schema.json"), Not(IsEmpty()));

  nlohmann::json speedscope = nlohmann::json::parse(Written(ReportFormat::kSpeedscope, runs));
  speedscope["profiles"][0]["unit"] = "surprise";
  EXPECT_THAT(SchemaFileErrors(speedscope, "tests/schemas/speedscope.schema.json"), Not(IsEmpty()));

  nlohmann::json gitlab = nlohmann::json::parse(Written(ReportFormat::kGitlab, runs));
  gitlab[0]["severity"] = "surprise";
  EXPECT_THAT(SchemaFileErrors(gitlab, "tests/schemas/gitlab-code-quality.schema.json"),
              Not(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Reports, ConsumersTest,
                         testing::Values(Input{"Everything", {sample::RunOfEverything()}},
                                         Input{"NothingFound", {sample::PassingRun()}},
                                         Input{"NoRun", {}}, Input{"AnEmptyRun", {RunResult{}}},
                                         Input{"SeveralRuns",
                                               {sample::RunOfEverything(), sample::PassingRun(),
                                                sample::RunOfEverything()}},
                                         Input{"HostileNames", {sample::HostileRun()}}),
                         [](const testing::TestParamInfo<Input>& input) {
                           return std::string(input.param.name);
                         });

}  // namespace
}  // namespace leakgate
