// What `leakgate recording show`, `diff` and `export` make of the recording of a real program, held
// against what the program is known to do, and against what other tools read in the exports.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "tests/integration/both_modes.h"
#include "tests/integration/flame_graph.h"
#include "tests/support/html_page.h"
#include "tests/support/json_schema.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// The suite's functions and those of its tests.
constexpr const char* kOwnCode = "Amounts*";

bool IsInstalled(const std::string& program) {
  return RunCommand({"sh", "-c", "command -v " + program}).exit_code == 0;
}

CommandResult Recording(std::vector<std::string> arguments) {
  std::vector<std::string> command = {LeakgatePath(), "recording"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command);
}

class RecordingLooksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    Record("windows.recording");
  }
  static void TearDownTestSuite() { delete directory_; }

  static void Record(const std::string& name) {
    const CommandResult result =
        RunCommand({LeakgatePath(), "record", "-q", "-o", directory_->File(name), "--",
                    FixturePath("windows_untouched")});
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  }
  static std::string File() { return directory_->File("windows.recording"); }

  static nlohmann::json Show(std::vector<std::string> options) {
    options.insert(options.begin(), {"show", File(), "--json"});
    const CommandResult result = Recording(std::move(options));
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return nlohmann::json::parse(result.standard_output);
  }
  // The rows of the only table, by the file and line of their place.
  static std::map<std::string, nlohmann::json> SitesOf(const nlohmann::json& view) {
    std::map<std::string, nlohmann::json> sites;
    for (const nlohmann::json& row : view["tables"][0]["rows"]) {
      sites[fs::path(row.value("place", "")).filename()] = row;
    }
    return sites;
  }
  static std::string Export(const std::string& format, std::vector<std::string> options = {}) {
    const std::string path = directory_->File("export." + format);
    options.insert(options.begin(), {"export", File(), "--format", format, "-o", path});
    const CommandResult result = Recording(std::move(options));
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return path;
  }
  static std::string ErrorOf(std::vector<std::string> arguments) {
    const CommandResult result = Recording(std::move(arguments));
    EXPECT_EQ(result.exit_code, 2) << result.standard_output;
    return result.standard_error;
  }

  static TemporaryDirectory* directory_;
};

TemporaryDirectory* RecordingLooksTest::directory_ = nullptr;

TEST_F(RecordingLooksTest, ATestLeavesWhatItIsKnownToLeave) {
  const nlohmann::json view =
      Show({"--test", "Amounts.AllocatesAndFrees", "--group-by", "site", "--filter", kOwnCode});
  const auto sites = SitesOf(view);
  const nlohmann::json left = sites.at(PlaceOf("windows.cpp", "of a test"));
  EXPECT_EQ(left["outstanding"]["bytes"], 200);
  EXPECT_EQ(left["temporary"]["bytes"], 0);
  EXPECT_EQ(left["first_window"], "Amounts.AllocatesAndFrees");
  const nlohmann::json freed = sites.at("windows.cpp:19");
  EXPECT_EQ(freed["outstanding"]["bytes"], 0);
  EXPECT_EQ(freed["temporary"]["bytes"], 100);
  EXPECT_EQ(view["recording"]["interval"]["before_kept"]["bytes"], 1040);
  EXPECT_TRUE(view["recording"]["interval"]["complete"]);
  EXPECT_THAT(view["recording"]["missing"], IsEmpty());
}

TEST_F(RecordingLooksTest, FourKindsOfBlockCrossATest) {
  const nlohmann::json view = Show({"--test=Amounts.Replaces", "--filter", kOwnCode});
  const nlohmann::json& interval = view["recording"]["interval"];
  EXPECT_EQ(interval["before_freed"]["bytes"], 1000);
  EXPECT_EQ(interval["inside_kept"]["bytes"], 1000);
  EXPECT_EQ(interval["inside_freed_later"]["bytes"], 1000);  // by the next test
}

TEST_F(RecordingLooksTest, ThePeakOfATestIsWhatWasLiveThen) {
  const nlohmann::json view =
      Show({"--test=Amounts.AllocatesAndFrees", "--at=peak", "--group-by=site"});
  EXPECT_EQ(view["schema"], "leakgate-snapshot-view-1");
  const auto sites = SitesOf(view);
  EXPECT_EQ(sites.at(PlaceOf("windows.cpp", "of the suite"))["bytes"], 40);
  EXPECT_EQ(sites.at("windows.cpp:13")["bytes"], 1000);
  EXPECT_THAT(view["snapshot"]["occasion"].get<std::string>(),
              StartsWith("the peak of the interval, "));
  const CommandResult text = Recording({"show", File(), "--at", "peak", "--view", "tree"});
  EXPECT_THAT(text.standard_output, HasSubstr("Call tree"));
}

TEST_F(RecordingLooksTest, EveryTableAddsUpToTheWhole) {
  const nlohmann::json whole = Show({});
  for (const char* const by : {"site", "stack", "module", "thread", "window", "kind", "size"}) {
    const nlohmann::json view = Show({"--group-by", by});
    for (const char* const sum : {"total", "temporary", "outstanding", "peak"}) {
      std::int64_t bytes = 0;
      for (const nlohmann::json& row : view["tables"][0]["rows"]) {
        bytes += row[sum]["bytes"].get<std::int64_t>();
      }
      const nlohmann::json& interval = whole["recording"]["interval"];
      const std::string key = std::string(sum) == "outstanding" ? "inside_kept" : sum;
      EXPECT_EQ(bytes, interval[key]["bytes"]) << by << " " << sum;
    }
  }
}

TEST_F(RecordingLooksTest, TheOverviewIsTextForPeople) {
  const CommandResult overview = Recording({"show", File()});
  EXPECT_EQ(overview.exit_code, 0) << overview.standard_error;
  EXPECT_THAT(
      overview.standard_output,
      AllOf(StartsWith("recording of "), HasSubstr("Call sites by peak"),
            HasSubstr("Windows by peak"), HasSubstr("Lifetimes of blocks"),
            Not(HasSubstr("MISSING")), Not(HasSubstr("incomplete")), Not(HasSubstr("\x1b["))));
}

TEST_F(RecordingLooksTest, ADeterministicProgramGivesTheSameTablesTwice) {
  Record("again.recording");
  const CommandResult diff = Recording(
      {"diff", File(), directory_->File("again.recording"), "--filter", kOwnCode, "--json"});
  EXPECT_EQ(diff.exit_code, 0) << diff.standard_error;
  const nlohmann::json json = nlohmann::json::parse(diff.standard_output);
  EXPECT_EQ(json["schema"], "leakgate-recording-diff-1");
  EXPECT_TRUE(json["with_lines"]);
  EXPECT_THAT(json["sites"], Not(IsEmpty()));
  for (const nlohmann::json& site : json["sites"]) {
    for (const char* const sum : {"peak", "total", "temporary", "outstanding"}) {
      EXPECT_EQ(site[sum]["growth"]["bytes"], 0) << site;
    }
  }
}

TEST_F(RecordingLooksTest, AMomentIsWrittenAsASnapshotFile) {
  const std::string peak = directory_->File("peak.snapshot");
  const std::string end = directory_->File("end.snapshot");
  for (const auto& [file, at] : {std::pair(peak, "peak"), std::pair(end, "end")}) {
    const CommandResult result =
        Recording({"export", File(), "--format=snapshot", "--at", at, "-o", file});
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  }
  const CommandResult show = RunCommand({LeakgatePath(), "snapshot", "show", peak, "--json"});
  ASSERT_EQ(show.exit_code, 0) << show.standard_error;
  EXPECT_EQ(nlohmann::json::parse(show.standard_output)["shown"]["bytes"],
            Show({})["recording"]["interval"]["peak"]["bytes"]);
  const CommandResult diff = RunCommand({LeakgatePath(), "snapshot", "diff", peak, end});
  EXPECT_EQ(diff.exit_code, 0) << diff.standard_error;
  EXPECT_THAT(diff.standard_output, HasSubstr("one process, "));
}

TEST_F(RecordingLooksTest, HeaptrackFindsTheSameSums) {
  if (!IsInstalled("heaptrack_print")) {
    GTEST_SKIP() << "heaptrack_print is not installed (Debian's package heaptrack)";
  }
  const CommandResult print = RunCommand({"heaptrack_print", "-l1", "-f", Export("heaptrack")});
  EXPECT_EQ(print.exit_code, 0) << print.standard_error;
  EXPECT_THAT(print.standard_error, Not(HasSubstr("failed")));
  const nlohmann::json interval = Show({})["recording"]["interval"];
  EXPECT_THAT(
      print.standard_output,
      HasSubstr("calls to allocation functions: " + interval["total"]["blocks"].dump() + " "));
  EXPECT_THAT(print.standard_output, HasSubstr("200B leaked"));
  EXPECT_THAT(print.standard_output, HasSubstr(PlaceOf("windows.cpp", "of a test")));
  char peak[64] = "";
  std::snprintf(peak, sizeof(peak), "peak heap memory consumption: %.2fK",
                interval["peak"]["bytes"].get<double>() / 1000);
  EXPECT_THAT(print.standard_output, HasSubstr(peak));
}

std::size_t CountOccurrences(std::string_view wanted, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(RecordingLooksTest, ProtocReadsThePerfettoTrace) {
  const CommandResult protoc =
      RunCommand({"sh", "-c",
                  "protoc --proto_path=\"$2\" --decode=perfetto.protos.Trace "
                  "perfetto_trace.proto < \"$1\"",
                  "sh", Export("perfetto"), LEAKGATE_SOURCE_DIR "/tests/schemas"});
  EXPECT_EQ(protoc.exit_code, 0) << protoc.standard_error;
  const nlohmann::json interval = Show({})["recording"]["interval"];
  EXPECT_THAT(protoc.standard_output,
              AllOf(HasSubstr("name: \"live heap\""), HasSubstr("name: \"suite Amounts\""),
                    HasSubstr("name: \"Amounts.AllocatesAndFrees\""),
                    HasSubstr("process_name: \"windows_untouched\""),
                    HasSubstr("self_allocated: 200\n"), HasSubstr("TestBody"),
                    HasSubstr("counter_value: " + interval["peak"]["bytes"].dump() + "\n")));
  // Each field is one that the schema has, and each slice ends once.
  EXPECT_THAT(protoc.standard_output, Not(testing::ContainsRegex("\n *[0-9]+[:{ ]")));
  const std::size_t begins = CountOccurrences(" type: 1\n", protoc.standard_output);
  EXPECT_GT(begins, 2U);
  EXPECT_EQ(begins, CountOccurrences(" type: 2\n", protoc.standard_output));
}

TEST_F(RecordingLooksTest, APageHasTestsAndCallSitesAndQuotesSourcesBelowADirectory) {
  const nlohmann::json page =
      ReportInPage(ReadFile(Export("html", {"--source-root", LEAKGATE_SOURCE_DIR})));
  EXPECT_EQ(page["recording"]["interval"], Show({})["recording"]["interval"]);
  std::vector<std::string> names;
  for (const nlohmann::json& test : page["tests"]["rows"]) {
    names.push_back(page["strings"][test[0].get<std::size_t>()]);
  }
  EXPECT_THAT(names, Contains("Amounts.AllocatesAndFrees"));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_THAT(page["sources"].dump(), HasSubstr("windows.cpp"));
  EXPECT_EQ(ReportInPage(ReadFile(Export("html")))["sources"], nlohmann::json::array());
  EXPECT_LT(fs::file_size(directory_->File("export.html")), 1'000'000U);
}

TEST_F(RecordingLooksTest, APageOfATestHasNothingElse) {
  const nlohmann::json page =
      ReportInPage(ReadFile(Export("html", {"--test", "Amounts.Replaces", "--filter", kOwnCode})));
  const nlohmann::json shown =
      Show({"--test", "Amounts.Replaces", "--filter", kOwnCode})["recording"]["interval"];
  EXPECT_EQ(page["recording"]["interval"], shown);
  EXPECT_EQ(page["borders"].front(), shown["begin_ns"]);
  EXPECT_EQ(page["borders"].back(), shown["end_ns"]);
  EXPECT_EQ(page["tests"]["count"], 1);
  EXPECT_THAT(page["recording"]["shown"].get<std::string>(), HasSubstr(kOwnCode));
}

TEST_F(RecordingLooksTest, ProfilesHaveTheSumThatIsAskedFor) {
  const CommandResult protoc =
      RunCommand({"sh", "-c",
                  "gzip -dc \"$1\" | protoc --proto_path=\"$2\" "
                  "--decode=perftools.profiles.Profile profile.proto",
                  "sh", Export("pprof", {"--weigh=total"}), LEAKGATE_SOURCE_DIR "/tests/schemas"});
  EXPECT_EQ(protoc.exit_code, 0) << protoc.standard_error;
  EXPECT_THAT(protoc.standard_output, HasSubstr("string_table: \"alloc_space\""));

  const std::string folded = ReadFile(Export("folded", {"--weigh=temporary"}));
  EXPECT_THAT(folded,
              AllOf(HasSubstr("AllocatesAndFrees"), HasSubstr(" 100\n"), Not(HasSubstr(" 200\n"))));
  const nlohmann::json speedscope =
      nlohmann::json::parse(ReadFile(Export("speedscope", {"--weigh=outstanding"})));
  EXPECT_THAT(SchemaFileErrors(speedscope, "tests/schemas/speedscope.schema.json"), IsEmpty());
  EXPECT_EQ(speedscope["profiles"][0]["name"], "bytes outstanding");
  const CommandResult flame_graph = RunCommand({"perl", kFlameGraph, Export("folded")});
  EXPECT_EQ(flame_graph.exit_code, 0) << flame_graph.standard_error;
}

TEST_F(RecordingLooksTest, WhatCannotBeShownIsToldInOneLine) {
  EXPECT_EQ(ErrorOf({"show", File(), "--test", "Amounts.Replace"}),
            "leakgate: --from test:Amounts.Replace: no such test in " + File() +
                "; did you mean test:Amounts.Replaces?\n");
  EXPECT_EQ(ErrorOf({"show", File(), "--from", "mark:loaded"}),
            "leakgate: --from mark:loaded: no such mark in " + File() + "; it has none\n");
  EXPECT_THAT(ErrorOf({"show", File(), "--at", "1h"}),
              HasSubstr(" long; name an earlier moment\n"));
  const std::string text = directory_->Write("no.recording", "something else\n");
  EXPECT_EQ(ErrorOf({"export", File(), "--format=html", "--source-root", directory_->File("no")}),
            "leakgate: --source-root " + directory_->File("no") +
                ": no such directory; correct the path\n");
  for (const char* const command : {"show", "export"}) {
    std::vector<std::string> arguments = {command, text};
    if (command == std::string("export")) arguments.emplace_back("--format=perfetto");
    EXPECT_THAT(ErrorOf(arguments), AllOf(StartsWith("leakgate: " + text), HasSubstr("recording")));
  }
  EXPECT_THAT(ErrorOf({"show", directory_->File("none")}), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace leakgate::test
