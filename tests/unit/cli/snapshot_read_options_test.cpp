// The command lines of `leakgate snapshot show`, `diff` and `export`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cli/profiler/files_of_tests.h"
#include "runner/snapshot/view/export_names.h"
#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::ElementsAre;

TEST(SnapshotOptionsTest, ShowTakesAllOfItsOptions) {
  const Expected<Command> command =
      ParseCommandLine({"snapshot", "show", "a.snapshot", "--group-by", "stack", "--top", "7",
                        "--depth=3", "--filter", "net::*", "--filter", "module:libnet*",
                        "--budgets", "b", "--symbols", "s", "--json"});
  ASSERT_TRUE(command) << command.error().message;
  const auto& show = std::get<SnapshotShowCommand>(*command);
  EXPECT_THAT(show.files, ElementsAre("a.snapshot"));
  EXPECT_EQ(show.options.group_by, GroupBy::kStack);
  EXPECT_EQ(show.options.top, 7U);
  EXPECT_EQ(show.options.depth, 3U);
  EXPECT_THAT(show.reading.filters, ElementsAre("net::*", "module:libnet*"));
  EXPECT_THAT(show.reading.budgets, ElementsAre("b"));
  EXPECT_THAT(show.reading.symbols, ElementsAre("s"));
  EXPECT_EQ(show.output, OutputForm::kJson);
}

TEST(SnapshotOptionsTest, AgesAreToldByEarlierSnapshots) {
  const Expected<Command> command = ParseCommandLine(
      {"snapshot", "show", "a", "--group-by", "age", "--since", "b", "--since=ring"});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_THAT(std::get<SnapshotShowCommand>(*command).since, ElementsAre("b", "ring"));
  EXPECT_TRUE(ParseCommandLine({"snapshot", "show", "a", "--since", "b"}));  // the overview has it
  for (const char* const other : {"--group-by=site", "--view=tree"}) {
    EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--since", "b", other}),
              "--since tells the age of blocks; write --group-by age, or leave it out");
  }
}

TEST(SnapshotOptionsTest, DiffTakesTwoFiles) {
  const Expected<Command> command = ParseCommandLine({"snapshot", "diff", "a", "b", "--top=2"});
  ASSERT_TRUE(command) << command.error().message;
  const auto& diff = std::get<SnapshotDiffCommand>(*command);
  EXPECT_THAT(diff.files, ElementsAre("a", "b"));
  EXPECT_EQ(diff.top, 2U);
  EXPECT_EQ(ErrorOf({"snapshot", "diff", "a"}),
            "not two snapshots; name the earlier and the later one: leakgate snapshot diff BEFORE "
            "AFTER");
}

TEST(SnapshotOptionsTest, ExportTakesAFormatAndAFile) {
  const Expected<Command> command =
      ParseCommandLine({"snapshot", "export", "a", "--format=heaptrack", "-o", "out"});
  ASSERT_TRUE(command) << command.error().message;
  const auto& exported = std::get<SnapshotExportCommand>(*command);
  EXPECT_EQ(exported.format, SnapshotFormat::kHeaptrack);
  EXPECT_EQ(exported.output, "out");
  EXPECT_EQ(ErrorOf({"snapshot", "export", "a", "--format", "svg"}),
            "--format 'svg': no such format; write folded, pprof, speedscope, heaptrack, json "
            "or html");
}

TEST(SnapshotOptionsTest, PagesTakeWhereTheirSourcesAre) {
  const Expected<Command> diff =
      ParseCommandLine({"snapshot", "diff", "a", "b", "--html", "d.html", "--source-root=src"});
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_EQ(std::get<SnapshotDiffCommand>(*diff).page, "d.html");
  EXPECT_EQ(std::get<SnapshotDiffCommand>(*diff).source_root, "src");
  const Expected<Command> exported =
      ParseCommandLine({"snapshot", "export", "a", "--format=html", "--source-root", "src"});
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(std::get<SnapshotExportCommand>(*exported).source_root, "src");
  EXPECT_EQ(ErrorOf({"snapshot", "diff", "a", "b", "--source-root", "src"}),
            "--source-root is for a page, and there is none; add --html FILE, or leave it out");
  EXPECT_EQ(ErrorOf({"snapshot", "export", "a", "--format=json", "--source-root", "src"}),
            "--source-root is for a page, and there is none; add --format html, or leave it out");
}

TEST(SnapshotOptionsTest, RefusesANameThatTheReaderOfAnExportCannotUse) {
  const auto error_of = [](const char* format, const std::string& name) {
    const std::string error = ErrorOf({"snapshot", "export", "a", "--format", format, "-o", name});
    const std::string begin = "-o " + name + ": a name that its reader cannot use: ";
    EXPECT_THAT(error, testing::StartsWith(begin));
    return error.substr(std::min(begin.size(), error.size()));
  };
  EXPECT_EQ(error_of("heaptrack", "d/live.gz"),
            "heaptrack decompresses what ends in .gz, and this file is not compressed; write -o "
            "d/live.heaptrack");
  EXPECT_THAT(error_of("heaptrack", "live.zst"), testing::HasSubstr("what ends in .zst"));
  EXPECT_EQ(error_of("json", "live.json.gz"),
            "it promises a file compressed by gzip, which json is not; write -o live.json");
  EXPECT_EQ(error_of("pprof", "live.pb.zst"),
            "it promises a file compressed by zstd, which pprof is not; write -o live.pb.gz");
  EXPECT_EQ(error_of("speedscope", "a.chrome.json"),
            "speedscope takes what ends in .chrome.json for another format than speedscope; write "
            "-o a.speedscope.json");
  EXPECT_THAT(error_of("folded", "a.speedscope.json"),
              testing::HasSubstr("write -o a.collapsedstack.txt"));
}

TEST(SnapshotOptionsTest, TakesTheNamesThatTheReadersOfExportsKnow) {
  for (const auto& [format, name] : {std::pair{"pprof", "a.pb.gz"},
                                     {"pprof", "a.gz"},
                                     {"speedscope", "a.speedscope.json"},
                                     {"speedscope", "a.json"},
                                     {"folded", "a.collapsedstack.txt"},
                                     {"folded", "a.folded"},
                                     {"heaptrack", "a"},
                                     {"heaptrack", "a.gz/b"},
                                     {"json", "a.chrome.json"}}) {
    EXPECT_TRUE(ParseCommandLine({"snapshot", "export", "a", "--format", format, "-o", name}))
        << format << ' ' << name;
  }
}

TEST(SnapshotOptionsTest, NamesAnExportAfterItsSnapshotAsItsReaderWantsIt) {
  EXPECT_EQ(ExportNameFor(SnapshotFormat::kHeaptrack, "d/now.snapshot"), "now.heaptrack");
  EXPECT_EQ(ExportNameFor(SnapshotFormat::kPprof, "now.1.snapshot"), "now.1.pb.gz");
  EXPECT_EQ(ExportNameFor(SnapshotFormat::kFolded, "now"), "now.collapsedstack.txt");
  EXPECT_EQ(ExportNameFor(SnapshotFormat::kJson, "now.json"), "now.json.json");
  EXPECT_EQ(ExportNameFor(SnapshotFormat::kHtml, "d/now.snapshot"), "now.html");
  for (const auto& [word, format] : SnapshotFormats()) {
    EXPECT_TRUE(CheckExportName(format, ExportNameFor(format, "now.snapshot"))) << word;
  }
}

TEST(SnapshotOptionsTest, SayWhatIsWrong) {
  EXPECT_EQ(ErrorOf({"snapshot", "show"}),
            "no snapshot, or several; name one: leakgate snapshot show FILE");
  EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--group-by", "colour"}),
            "--group-by 'colour': no such group; write site, stack, module, component, thread, "
            "window, age, kind, size or freed-by");
  EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--group-by", "component"}),
            "--group-by component needs budget files; name them with --budgets DIR");
  EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--view", "tree", "--group-by", "site"}),
            "--view tree and --group-by contradict each other; leave one out");
  EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--view", "graph"}),
            "--view 'graph': no such view; write --view tree or --view table");
  EXPECT_EQ(ErrorOf({"snapshot", "show", "a", "--top", "0"}),
            "--top '0': not a number above 0; write for example --top 20");
}

TEST(SnapshotOptionsTest, RunTakesWhichSnapshotsToKeep) {
  const Expected<Command> command =
      ParseCommandLine({"run", "--snapshots", "dir", "--when=every", "--", "a"});
  ASSERT_TRUE(command) << command.error().message;
  const auto& files = dynamic_cast<const FilesOfTests&>(*std::get<RunCommand>(*command).addition);
  EXPECT_EQ(files.snapshots_directory, "dir");
  EXPECT_EQ(files.when, SnapshotTests::kEvery);
  EXPECT_EQ(ErrorOf({"run", "--when=every", "--", "a"}),
            "--when says of which tests to keep files; add --snapshots DIR or --record DIR, or "
            "leave it out");
  EXPECT_EQ(ErrorOf({"run", "--snapshots", "dir", "--when=never", "--", "a"}),
            "--when 'never': no such tests; write --when=over_budget or every");
}

}  // namespace
}  // namespace leakgate
