// The command lines of `leakgate recording show`, `diff` and `export`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using Kind = RecordingTime::Kind;

TEST(RecordingOptionsTest, ShowTakesAllOfItsOptions) {
  const auto show = Parse<RecordingShowCommand>({"recording", "show",        "a.recording",
                                                 "--from",    "mark:loaded", "--to=2.5s",
                                                 "--size",    "1KiB..1MiB",  "--lifetime=..10us",
                                                 "--filter",  "net::*",      "--without",
                                                 "std::*",    "--group-by",  "stack",
                                                 "--weigh",   "total",       "--top",
                                                 "7",         "--depth=3",   "--budgets",
                                                 "b",         "--symbols",   "s",
                                                 "--json"});
  EXPECT_THAT(show.files, ElementsAre("a.recording"));
  EXPECT_EQ(show.reading.from->kind, Kind::kMark);
  EXPECT_EQ(show.reading.from->name, "loaded");
  EXPECT_EQ(show.reading.to->time_ns, 2'500'000'000U);
  EXPECT_EQ(show.reading.size_bytes.least, 1024U);
  EXPECT_EQ(show.reading.size_bytes.most, 1024U * 1024);
  EXPECT_EQ(show.reading.lifetime_ns.least, 0U);
  EXPECT_EQ(show.reading.lifetime_ns.most, 10'000U);
  EXPECT_THAT(show.reading.stacks.filters, ElementsAre("net::*"));
  EXPECT_THAT(show.reading.stacks.without, ElementsAre("std::*"));
  EXPECT_EQ(show.options.group_by, GroupBy::kStack);
  EXPECT_EQ(show.options.weigh, Weigh::kTotal);
  EXPECT_EQ(show.options.top, 7U);
  EXPECT_EQ(show.options.depth, 3U);
  EXPECT_EQ(show.output, OutputForm::kJson);
}

TEST(RecordingOptionsTest, ATestIsAnInterval) {
  const auto show =
      Parse<RecordingShowCommand>({"recording", "show", "a", "--test", "S.T#2", "--at", "peak"});
  EXPECT_EQ(show.reading.from->kind, Kind::kTest);
  EXPECT_EQ(show.reading.to->stem, "S.T");
  EXPECT_EQ(show.reading.to->which, 2U);
  EXPECT_EQ(show.at->kind, Kind::kPeak);
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--test", "S.T", "--from=1s"}),
            "--test stands for --from and --to; leave these out");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--test", ""}),
            "--test '': no name; write --test SUITE.NAME");
}

TEST(RecordingOptionsTest, TellsWhatIsWrongBeforeAnythingIsRead) {
  EXPECT_EQ(ErrorOf({"recording", "show"}),
            "no recording, or several; name one: leakgate recording show FILE");
  EXPECT_EQ(ErrorOf({"recording", "diff", "a"}),
            "not two recordings; name the earlier and the later one: leakgate recording diff "
            "BEFORE AFTER");
  EXPECT_EQ(ErrorOf({"recording", "export", "--format=perfetto"}),
            "no recording, or several; name one: leakgate recording export FILE");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--from=2s", "--to=1s"}),
            "--from 2s --to 1s: it ends before it begins; exchange them");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--from=soon"}),
            "--from 'soon': no moment of a recording; write a time since its begin (2.5s, 300ms), "
            "mark:NAME, test:SUITE.NAME, suite:NAME, begin or end");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--at=soon"}),
            "--at 'soon': no moment of a recording; write a time since its begin (2.5s, 300ms), "
            "mark:NAME, test:SUITE.NAME, suite:NAME, begin, end or peak");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--size=large"}),
            "--size 'large': not a range of sizes; write for example --size 1KiB..1MiB, --size "
            "4096.. or --size ..64");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--size=9..3"}),
            "--size '9..3': not a range of sizes; write for example --size 1KiB..1MiB, --size "
            "4096.. or --size ..64");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--lifetime=.."}),
            "--lifetime '..': not a range of times; write for example --lifetime 10us..1s, "
            "--lifetime 1s.. or --lifetime ..1ms");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--weigh=most"}),
            "--weigh 'most': no such sum; write peak, outstanding, total or temporary");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--group-by=component"}),
            "--group-by component needs budget files; name them with --budgets DIR");
}

TEST(RecordingOptionsTest, OptionsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--view=tree", "--group-by=site"}),
            "--view tree and --group-by contradict each other; leave one out");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--at=1s", "--from=2s"}),
            "--at 1s is one moment, and needs no interval; leave out --from, --to and --test, or "
            "write --at peak");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--at=1s", "--weigh=total"}),
            "--at shows what was live at one moment, which is all that can be weighed there; leave "
            "out --weigh");
  EXPECT_EQ(ErrorOf({"recording", "show", "a", "--at=1s", "--group-by=lifetime"}),
            "--group-by lifetime is not of one moment; leave out --at");
  EXPECT_EQ(
      ErrorOf({"recording", "show", "a", "--lifetime=1s..", "--weigh=peak"}),
      "--weigh peak: the peak is not known for blocks that are chosen by --lifetime; leave out "
      "one of the two");
}

TEST(RecordingOptionsTest, ExportTakesAFormatASumAndAFile) {
  const auto exported = Parse<RecordingExportCommand>(
      {"recording", "export", "a", "--format=pprof", "--weigh", "temporary", "-o", "out.pb.gz"});
  EXPECT_EQ(exported.format, RecordingFormat::kPprof);
  EXPECT_EQ(exported.weigh, Weigh::kTemporary);
  EXPECT_EQ(exported.output, "out.pb.gz");
  EXPECT_EQ(ErrorOf({"recording", "export", "a"}),
            "--format '': no such format; write folded, pprof, speedscope, heaptrack, perfetto, "
            "html, json or snapshot");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=json"}),
            "--format json has what was live at one moment; add --at peak, or --at and a time");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=perfetto", "--at=1s"}),
            "--format perfetto has what happened over time; leave out --at");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=html", "--at=1s"}),
            "--format html has what happened over time; leave out --at");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=heaptrack", "--weigh=total"}),
            "--weigh is for folded, pprof and speedscope without --at; leave it out");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=heaptrack", "--lifetime=1s.."}),
            "--format heaptrack has all that becomes of a block; leave out --lifetime");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=heaptrack", "-o", "a.gz"}),
            "-o a.gz: a name that its reader cannot use: heaptrack decompresses what ends in .gz, "
            "and this file is not compressed; write -o a.heaptrack");
}

TEST(RecordingOptionsTest, APageTakesAnIntervalAndSourcesAndNothingThatItCannotShow) {
  const auto page =
      Parse<RecordingExportCommand>({"recording", "export", "a", "--format=html", "--from=1s",
                                     "--size=1KiB..", "--filter=net::*", "--source-root", "src"});
  EXPECT_EQ(page.format, RecordingFormat::kHtml);
  EXPECT_EQ(page.source_root, "src");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=html", "--lifetime=1s.."}),
            "--format html has all that becomes of a block; leave out --lifetime");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=html", "--weigh=total"}),
            "--weigh is for folded, pprof and speedscope without --at; leave it out");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=html", "--budgets=budgets"}),
            "--format html has no components of a recording; leave out --budgets");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=perfetto", "--source-root=src"}),
            "--source-root is for a page, and there is none; add --format html, or leave it out");
  EXPECT_EQ(ErrorOf({"recording", "export", "a", "--format=html", "-o", "a.html.gz"}),
            "-o a.html.gz: a name that its reader cannot use: it promises a file compressed by "
            "gzip, which html is not; write -o a.html");
}

}  // namespace
}  // namespace leakgate
