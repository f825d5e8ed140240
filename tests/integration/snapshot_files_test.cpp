// Snapshots that `leakgate run --snapshots` keeps of a real program's tests, and what
// `leakgate snapshot show`, `diff` and `export` make of them.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/both_modes.h"
#include "tests/integration/flame_graph.h"
#include "tests/support/html_page.h"
#include "tests/support/json_schema.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> SnapshotsIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// "Amounts.Replaces-begin": of the file's name what tells it.
std::vector<std::string> Moments(const std::vector<std::string>& files) {
  std::vector<std::string> moments;
  for (const std::string& file : files) {
    const std::string stem = fs::path(file).stem().string();
    moments.push_back(stem.substr(stem.find("Amounts.")));
  }
  return moments;
}

CommandResult Snapshot(std::vector<std::string> arguments) {
  std::vector<std::string> command = {LeakgatePath(), "snapshot"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command);
}

nlohmann::json SnapshotJson(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const CommandResult result = Snapshot(std::move(arguments));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  return nlohmann::json::parse(result.standard_output);
}

class SnapshotFilesTest : public BothModes {
 protected:
  GatedRun Run(const std::vector<std::string>& options, const std::string& filter = "*") const {
    std::vector<std::string> all = {"--snapshots", directory_.path(), "--confirm=off"};
    all.insert(all.end(), options.begin(), options.end());
    return RunTests("windows", filter, all);
  }
  std::string File(const std::string& moment) const {
    for (const std::string& file : SnapshotsIn(directory_.path())) {
      if (file.ends_with(moment + ".snapshot")) return file;
    }
    throw std::runtime_error("no snapshot of " + moment);
  }

  TemporaryDirectory directory_;
};

TEST_P(SnapshotFilesTest, KeepsThoseOfTestsThatAreOverBudget) {
  const GatedRun run = Run({});
  EXPECT_EQ(run.Test("Amounts.AllocatesAndFrees")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Amounts.FreesAnEarlierBlock")["verdict"], "pass");
  EXPECT_THAT(Moments(SnapshotsIn(directory_.path())),
              ElementsAre("Amounts.AllocatesAndFrees-begin", "Amounts.AllocatesAndFrees-end",
                          "Amounts.Replaces-begin", "Amounts.Replaces-end"));
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("snapshots of 2 tests in " + directory_.path()));
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("to see what Amounts.AllocatesAndFrees left: leakgate snapshot diff "));
}

TEST_P(SnapshotFilesTest, KeepsThoseOfEveryTestIfAsked) {
  const GatedRun run = Run({"--when=every"});
  EXPECT_THAT(SnapshotsIn(directory_.path()), SizeIs(8));
  EXPECT_THAT(Moments(SnapshotsIn(directory_.path())), Contains("Amounts.DoesNothing-end"));
  // Nothing else of the run is changed.
  EXPECT_EQ(run.Test("Amounts.DoesNothing")["verdict"], "pass");
  EXPECT_FALSE(run.Test("Amounts.DoesNothing").contains("file_descriptors"));
}

TEST_P(SnapshotFilesTest, TellWhatATestLeft) {
  Run({});
  const nlohmann::json diff =
      SnapshotJson({"diff", File("Amounts.AllocatesAndFrees-begin"),
                    File("Amounts.AllocatesAndFrees-end"), "--filter", "*TestBody"});
  EXPECT_EQ(diff["same_process"], true);
  EXPECT_THAT(diff["missing"], IsEmpty());
  EXPECT_EQ(diff["total"]["appeared"]["bytes"], 200);
  EXPECT_EQ(diff["total"]["appeared"]["blocks"], 1);
  EXPECT_EQ(diff["total"]["gone"]["blocks"], 0);
  ASSERT_THAT(diff["sites"], SizeIs(1));
  EXPECT_THAT(diff["sites"][0]["place"].get<std::string>(),
              EndsWith(PlaceOf("windows.cpp", "of a test")));
  EXPECT_THAT(diff["sites"][0]["name"].get<std::string>(), HasSubstr("AllocatesAndFrees"));
}

TEST_P(SnapshotFilesTest, TellWhatATestReplaced) {
  Run({});
  const nlohmann::json diff =
      SnapshotJson({"diff", File("Amounts.Replaces-begin"), File("Amounts.Replaces-end")});
  std::vector<std::string> changed;
  for (const nlohmann::json& site : diff["sites"]) {
    if (!site["users"]) continue;
    EXPECT_EQ(site["appeared"]["bytes"].get<long>() + site["gone"]["bytes"].get<long>(), 1000);
    changed.push_back(site["name"]);
  }
  EXPECT_THAT(changed, SizeIs(2));
}

TEST_P(SnapshotFilesTest, ShowWhatIsLiveBySite) {
  Run({"--when=every"});
  const nlohmann::json view =
      SnapshotJson({"show", File("Amounts.AllocatesAndFrees-end"), "--group-by", "site", "--filter",
                    "fixtures/windows.cpp"});
  std::map<std::string, long> bytes;
  for (const nlohmann::json& row : view["tables"][0]["rows"]) {
    bytes[fs::path(row["place"].get<std::string>()).filename()] = row["bytes"];
  }
  EXPECT_EQ(bytes[PlaceOf("windows.cpp", "of a test")], 200);
  EXPECT_EQ(bytes[PlaceOf("windows.cpp", "of the suite")], 40);
  EXPECT_EQ(view["snapshot"]["state"], "stopped");
  EXPECT_EQ(view["snapshot"]["window"], "suite Amounts");  // the test's own has just ended
  EXPECT_EQ(view["snapshot"]["occasion"], "end of Amounts.AllocatesAndFrees");
  EXPECT_THAT(view["modules_without_symbols"], IsEmpty());
}

TEST_P(SnapshotFilesTest, ShowEveryTableAndTheTree) {
  Run({"--when=every"});
  const std::string file = File("Amounts.Replaces-end");
  const CommandResult overview = Snapshot({"show", file});
  EXPECT_EQ(overview.exit_code, 0);
  EXPECT_THAT(overview.standard_output, StartsWith("snapshot of "));
  EXPECT_THAT(overview.standard_output, HasSubstr("Call sites"));
  EXPECT_THAT(overview.standard_output, Not(HasSubstr("MISSING")));
  EXPECT_THAT(overview.standard_output, Not(HasSubstr("\x1b[")));
  const CommandResult tree = Snapshot({"show", file, "--view", "tree"});
  EXPECT_THAT(tree.standard_output, HasSubstr("Amounts_Replaces_Test::TestBody"));
  for (const char* const by :
       {"site", "stack", "module", "thread", "window", "age", "kind", "size"}) {
    const nlohmann::json view = SnapshotJson({"show", file, "--group-by", by});
    long bytes = 0;
    for (const nlohmann::json& row : view["tables"][0]["rows"]) bytes += row["bytes"].get<long>();
    EXPECT_EQ(bytes, view["snapshot"]["live"]["bytes"]) << by;
  }
}

TEST_P(SnapshotFilesTest, ChargeComponentsByBudgetFiles) {
  Run({"--when=every"});
  const std::string budget = directory_.Write("code.json", R"({"component": "windows",
      "code": {"paths": ["fixtures/windows.cpp"]}})");
  const nlohmann::json view = SnapshotJson({"show", File("Amounts.AllocatesAndFrees-end"),
                                            "--group-by", "component", "--budgets", budget});
  std::vector<std::string> names;
  for (const nlohmann::json& row : view["tables"][0]["rows"]) names.push_back(row["name"]);
  EXPECT_THAT(names, Contains("windows"));
}

LEAKGATE_IN_BOTH_MODES(SnapshotFilesTest);

// Each export is opened by the tool that it is for.
class SnapshotExportTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    RunGated({FixturePath("windows_untouched"), "--gtest_filter=Amounts.AllocatesAndFrees"},
             {"--snapshots", directory_->path(), "--when=every", "--confirm=off"});
    for (const std::string& file : SnapshotsIn(directory_->path())) {
      if (file.ends_with("end.snapshot")) *file_ = file;
    }
  }
  static void TearDownTestSuite() { delete directory_; }

  static std::string Export(const std::string& format) {
    const std::string path = directory_->File("export." + format);
    const CommandResult result = Snapshot({"export", *file_, "--format", format, "-o", path});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return path;
  }

  static TemporaryDirectory* directory_;
  static std::string* file_;
};

TemporaryDirectory* SnapshotExportTest::directory_ = nullptr;
std::string* SnapshotExportTest::file_ = new std::string;

TEST_F(SnapshotExportTest, HeaptrackReadsItsOwn) {
  if (RunCommand({"sh", "-c", "command -v heaptrack_print"}).exit_code != 0) {
    GTEST_SKIP() << "heaptrack_print is not installed (Debian's package heaptrack)";
  }
  const CommandResult print = RunCommand({"heaptrack_print", "-l1", "-f", Export("heaptrack")});
  EXPECT_EQ(print.exit_code, 0) << print.standard_error;
  EXPECT_THAT(print.standard_error, Not(HasSubstr("failed")));
  EXPECT_THAT(print.standard_output, HasSubstr("200B leaked"));
  EXPECT_THAT(print.standard_output, HasSubstr(PlaceOf("windows.cpp", "of a test")));
}

TEST_F(SnapshotExportTest, ProtocReadsTheProfile) {
  const CommandResult protoc =
      RunCommand({"sh", "-c",
                  "gzip -dc \"$1\" | protoc --proto_path=\"$2\" "
                  "--decode=perftools.profiles.Profile profile.proto",
                  "sh", Export("pprof"), LEAKGATE_SOURCE_DIR "/tests/schemas"});
  EXPECT_EQ(protoc.exit_code, 0) << protoc.standard_error;
  EXPECT_THAT(protoc.standard_output, HasSubstr("string_table: \"inuse_space\""));
  EXPECT_THAT(protoc.standard_output, HasSubstr("AllocatesAndFrees"));
  EXPECT_THAT(protoc.standard_output, Not(HasSubstr("disposition")));
}

TEST_F(SnapshotExportTest, FlameGraphReadsFoldedStacks) {
  const CommandResult flame_graph = RunCommand({"perl", kFlameGraph, Export("folded")});
  EXPECT_EQ(flame_graph.exit_code, 0) << flame_graph.standard_error;
  EXPECT_THAT(flame_graph.standard_output, HasSubstr("AllocatesAndFrees"));
}

TEST_F(SnapshotExportTest, SpeedscopeKeepsToItsSchema) {
  const nlohmann::json profile = nlohmann::json::parse(ReadFile(Export("speedscope")));
  EXPECT_THAT(SchemaFileErrors(profile, "tests/schemas/speedscope.schema.json"), IsEmpty());
  EXPECT_EQ(profile["profiles"][0]["name"], "bytes live");
}

TEST_F(SnapshotExportTest, JsonHasEachBlockWithItsStack) {
  const nlohmann::json json = nlohmann::json::parse(ReadFile(Export("json")));
  EXPECT_EQ(json["schema"], "leakgate-snapshot-blocks-2");
  EXPECT_EQ(json["blocks"].size(), json["snapshot"]["live"]["blocks"]);
  long bytes = 0;
  std::map<std::uint64_t, nlohmann::json> stacks;
  for (const nlohmann::json& stack : json["stacks"]) stacks[stack["id"]] = stack;
  bool is_found = false;
  for (const nlohmann::json& block : json["blocks"]) {
    bytes += block["bytes"].get<long>();
    const nlohmann::json& stack = stacks.at(block["stack"]);
    for (const nlohmann::json& frame : stack["frames"]) {
      const std::string function = json["frames"].at(frame.get<std::size_t>())["function"];
      const std::string offset = json["frames"].at(frame.get<std::size_t>())["offset"];
      EXPECT_EQ(offset.substr(0, 2), "0x");
      is_found = is_found ||
                 (block["bytes"] == 200 && function.find("AllocatesAndFrees") != std::string::npos);
    }
  }
  EXPECT_EQ(bytes, json["snapshot"]["live"]["bytes"]);
  EXPECT_TRUE(is_found);
}

TEST_F(SnapshotExportTest, PageHasTheTestsBlocksWithTheirSources) {
  const std::string path = directory_->File("export.page.html");
  const CommandResult result = Snapshot(
      {"export", *file_, "--format=html", "-o", path, "--source-root", LEAKGATE_SOURCE_DIR});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const nlohmann::json page = ReportInPage(ReadFile(path));
  EXPECT_EQ(page["snapshot"]["occasion"], "end of Amounts.AllocatesAndFrees");
  EXPECT_THAT(page["snapshot"]["missing"], IsEmpty());
  bool is_found = false;
  for (const nlohmann::json& site : page["sites"]["rows"]) {
    const std::string place = page["strings"][site[1].get<std::size_t>()];
    is_found = is_found || (site[2] == 200 && place.ends_with(PlaceOf("windows.cpp", "of a test")));
  }
  EXPECT_TRUE(is_found);
  EXPECT_THAT(page["sources"].dump(), HasSubstr("of a test"));
  // Without the option nothing is quoted: a snapshot may come from anywhere.
  EXPECT_THAT(ReportInPage(ReadFile(Export("html")))["sources"], IsEmpty());
}

TEST_F(SnapshotExportTest, PageOfADifferenceIsWrittenBesideTheText) {
  std::string begin = *file_;
  begin.replace(begin.rfind("end.snapshot"), std::string::npos, "begin.snapshot");
  const std::string path = directory_->File("difference.html");
  const CommandResult result = Snapshot({"diff", begin, *file_, "--html", path});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_output, Snapshot({"diff", begin, *file_}).standard_output);
  const nlohmann::json page = ReportInPage(ReadFile(path));
  const nlohmann::json diff = SnapshotJson({"diff", begin, *file_});
  EXPECT_EQ(page["difference"]["total"][6], diff["total"]["gone"]["bytes"]);
  EXPECT_EQ(page["sites"]["count"], diff["sites"].size());
  EXPECT_EQ(page["sites"]["rows"].size(), diff["sites"].size());
  const CommandResult nowhere =
      Snapshot({"diff", begin, *file_, "--html", directory_->File("gone/d.html")});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_EQ(nowhere.standard_output, "");
}

TEST_F(SnapshotExportTest, IsNamedAfterTheSnapshotInADirectoryAndReplacesNothing) {
  const TemporaryDirectory directory;
  const std::string stem = fs::path(*file_).stem().string();
  const CommandResult first =
      Snapshot({"export", *file_, "--format=heaptrack", "-o", directory.path()});
  EXPECT_EQ(first.exit_code, 0) << first.standard_error;
  EXPECT_EQ(ReadFile(directory.File(stem + ".heaptrack")), ReadFile(Export("heaptrack")));
  EXPECT_THAT(first.standard_error, HasSubstr("written: " + directory.File(stem + ".heaptrack")));
  const CommandResult second =
      Snapshot({"export", *file_, "--format=heaptrack", "-o", directory.path()});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.standard_error, HasSubstr("there is such a file already"));
}

TEST_F(SnapshotExportTest, WritesNothingUnderANameThatItsReaderCannotUse) {
  const TemporaryDirectory directory;
  const CommandResult result =
      Snapshot({"export", *file_, "--format=heaptrack", "-o", directory.File("live.gz")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("heaptrack decompresses"));
  EXPECT_FALSE(fs::exists(directory.File("live.gz")));
}

TEST_F(SnapshotExportTest, IsAFileWhereStandardOutputIsATerminal) {
  const TemporaryDirectory directory;
  const std::string name = fs::path(*file_).stem().string() + ".pb.gz";
  const CommandResult result =
      RunCommand({"sh", "-c",
                  R"(cd "$1" && exec script -qec "$2 snapshot export $3 --format=pprof" /dev/null)",
                  "sh", directory.path(), LeakgatePath(), *file_});
  EXPECT_THAT(result.standard_output, HasSubstr("written: " + name));
  EXPECT_EQ(ReadFile(directory.File(name)), ReadFile(Export("pprof")));
}

TEST_F(SnapshotExportTest, GoesToStandardOutputWithoutAFile) {
  const CommandResult result = Snapshot({"export", *file_, "--format=folded"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output, ReadFile(Export("folded")));
}

TEST(SnapshotErrorsTest, NameTheFileAndWhatIsWrong) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("a.snapshot", "leakgate-snapshot-1\nx");
  const CommandResult result = Snapshot({"show", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_error,
            "leakgate: " + file + ": the snapshot was cut off at byte 21; copy it again\n");
  EXPECT_EQ(result.standard_output, "");
}

}  // namespace
}  // namespace leakgate::test
