// Files that are made to keep their reader busy for minutes, or to fill the memory: each is read
// in time, or refused in one line that names it.
//
// A reader that takes quadratic time takes minutes for these, and the command is given one.
#include <gmock/gmock.h>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Reports as `leakgate run` writes them, and archives of them.
constexpr const char* kPython = R"(
import json, os, sys, zipfile
ZERO = {"bytes": 0, "blocks": 0}
WINDOW = {"kind": "test", "name": "Suite.Test", "verdict": "pass", "violations": [], "findings": [],
          **{key: ZERO for key in ("outstanding", "lost", "retained", "allowed", "framework",
                                   "growth", "allocated")}}
STACKS = {"proved": 0, "walked": 0, "unprovable": 0, "frames_walked": 0, "frames_without_rule": 0}
def run(number=0, **more):
    return {"schema": "leakgate-report-2", "binary": f"test_{number}", "arguments": [],
            "verdict": "pass", "exit_code": 0, "program": {"exit_code": 0, "signal": None},
            "mode": "gate", "reasons": [], "failures": [], "warnings": [], "windows": [WINDOW],
            "tracing": {"boundaries": "listener", "drops": {}, "stack_ends": {},
                        "stacks": STACKS}, **more}
def write(value):
    with open(sys.argv[1], "w") as file: json.dump(value, file)
def archive(level=1):
    return zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=level)
)";

class HostileFilesTest : public testing::Test {
 protected:
  // What `script` writes as `name`.
  std::string Make(const std::string& name, const std::string& script) const {
    const std::string path = directory_.File(name);
    const CommandResult made = RunCommand({"python3", "-c", kPython + script, path});
    EXPECT_EQ(made.exit_code, 0) << made.standard_error;
    return path;
  }

  // `leakgate ARGUMENTS` in at most a minute and a gibibyte.
  static CommandResult Bounded(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"bash", "-c", "ulimit -v 1048576; exec \"$@\"", "bash",
                                        LeakgatePath()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunCommand(command, {.timeout = std::chrono::seconds(60)});
  }

  static void ExpectRefused(const std::vector<std::string>& arguments, const std::string& file,
                            const std::string& problem) {
    const CommandResult result = Bounded(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.standard_error;
    EXPECT_THAT(result.standard_error, StartsWith("leakgate: " + file));
    EXPECT_THAT(result.standard_error, EndsWith(problem + "\n"));
    EXPECT_EQ(std::count(result.standard_error.begin(), result.standard_error.end(), '\n'), 1);
  }

  const TemporaryDirectory directory_;
};

TEST_F(HostileFilesTest, AnObjectOfManyKeysIsRefused) {
  const std::string report =
      Make("keys.json", "write(run(more={f'key_{i}': 0 for i in range(400_000)}))");
  const std::string problem = "more than 256 keys in one object; run again what wrote it";
  ExpectRefused({"merge", report, "--report", "html=" + directory_.File("page.html")}, report,
                problem);
  ExpectRefused({"history", "add", directory_.File("leaks.sqlite"), report}, report, problem);
  ExpectRefused({"run", "--baseline", report, "--", "true"}, report, problem);
}

TEST_F(HostileFilesTest, MillionsOfEmptyRecordsAreRefused) {
  const std::string report = Make("empty.json", R"(
text = json.dumps(run())
open(sys.argv[1], "w").write(text.replace('"violations": []',
    '"violations": [], "free_errors": [' + "{}," * 20_000_000 + "{}]"))
)");
  ExpectRefused({"merge", report}, report,
                "more than 4096 of these; run fewer tests at once, as in shards, and merge their "
                "reports");
}

// Nothing is wrong with it, but that it would take gigabytes.
TEST_F(HostileFilesTest, ARunOfMillionsOfValuesIsNotTakenApart) {
  const std::string report = Make("values.json", R"(
text = json.dumps(run())
more = "".join(f'"more_{i}": [' + "{}," * 900_000 + "{}]," for i in range(20))
open(sys.argv[1], "w").write(text.replace('"kind": "test"', more + '"kind": "test"'))
)");
  ExpectRefused({"merge", report, "--report", "html=" + directory_.File("page.html")}, report,
                "the 16777216 that can be taken apart at most; run its tests in shards");
}

// What leakgate does not know, it does not keep.
TEST_F(HostileFilesTest, MillionsOfValuesOfAnUnknownKeyAreSkipped) {
  const std::string report = Make("unknown.json", R"(
text = json.dumps(run())
open(sys.argv[1], "w").write(text[:-1] + ', "more": [' + "{}," * 20_000_000 + "{}]}")
)");
  const CommandResult merged = Bounded({"merge", report, "-o", directory_.File("merged.json")});
  EXPECT_EQ(merged.exit_code, 0) << merged.standard_error;
}

TEST_F(HostileFilesTest, AnArchiveOfManyReportsIsMerged) {
  const std::string archive = Make("many.zip", R"(
with archive() as zip:
    for i in range(8_000): zip.writestr(f"{i}.json", json.dumps(run(i)))
)");
  const std::string merged = directory_.File("merged.json");
  const CommandResult result = Bounded({"merge", archive, "-o", merged});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_error, HasSubstr("8000 runs of 8000 binaries"));
  const CommandResult counted =
      RunCommand({"python3", "-c",
                  "import json, sys; print(len(json.load(open(sys.argv[1]))['runs']))", merged});
  EXPECT_EQ(counted.standard_output, "8000\n");
}

// Each run would be unpacked from the archive's beginning.
TEST_F(HostileFilesTest, AMergedReportInAnArchiveIsMerged) {
  const std::string archive = Make("merged.zip", R"(
with archive() as zip:
    zip.writestr("merged.json", json.dumps({"schema": "leakgate-merged-1",
                                            "runs": [run(i) for i in range(20_000)]}))
)");
  const std::string merged = directory_.File("merged.json");
  const CommandResult result = Bounded({"merge", archive, "-o", merged});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_error, HasSubstr("20000 runs of 20000 binaries"));
  const CommandResult added = Bounded({"history", "add", directory_.File("leaks.sqlite"), archive});
  EXPECT_EQ(added.exit_code, 0) << added.standard_error;
}

TEST_F(HostileFilesTest, AnArchiveThatUnpacksToFarMoreThanItIsIsRefused) {
  const std::string archive = Make("bomb.zip", R"(
with archive(6) as zip, zip.open("report.json", "w", force_zip64=True) as member:
    member.write(b'{"schema": "leakgate-report-2", "binary": "')
    for i in range(1_100): member.write(b"a" * 1_048_576)
)");
  ExpectRefused({"merge", archive}, archive,
                "; unpack it, if you trust it, and name the directory");
  ExpectRefused({"merge", directory_.path()}, archive,
                "; unpack it, if you trust it, and name the directory");
}

// Its members are one and the same piece of the file.
TEST_F(HostileFilesTest, AnArchiveWhoseFilesOverlapIsRefused) {
  const std::string archive = Make("overlap.zip", R"(
import copy
with archive() as zip:
    zip.writestr("0.json", b" " * 10_000_000)
    for i in range(1, 1_000):
        other = copy.copy(zip.filelist[0])
        other.filename = f"{i}.json"
        zip.filelist.append(other)
)");
  ExpectRefused({"merge", archive}, archive,
                "; unpack it, if you trust it, and name the directory");
}

TEST_F(HostileFilesTest, AnArchiveThatUnderstatesItsSizeIsRefused) {
  const std::string archive = Make("lies.zip", R"(
with archive() as zip:
    zip.writestr("0.json", b'{"schema": "leakgate-report-2", "more": "' + b"a" * 50_000_000)
    zip.filelist[0].file_size = 1_000
)");
  ExpectRefused({"merge", archive},
                archive + "/0.json: damaged in its archive: it is not what the archive says",
                "; copy the archive again, or run again what wrote it");
}

TEST_F(HostileFilesTest, AnArchiveIsNotUnpackedWhereThereIsNoRoom) {
  const std::string archive =
      Make("run.zip", "with archive() as zip: zip.writestr('run.json', json.dumps(run()))");
  const CommandResult result =
      Leakgate({"merge", archive}, {.environment = {"TMPDIR=" + directory_.File("none")}});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;  // then /tmp is taken
  const CommandResult full = RunCommand({"bash", "-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"",
                                         "bash", LeakgatePath(), "merge", archive});
  EXPECT_EQ(full.exit_code, 2) << full.standard_error;
  EXPECT_THAT(full.standard_error,
              HasSubstr("run.json: cannot be unpacked: File too large; make room in the directory "
                        "for temporary files, or name another by TMPDIR"));
}

TEST_F(HostileFilesTest, ABudgetOfManyUnknownKeysIsRefused) {
  const std::string budget = Make("keys.json", "write({f'key_{i}': 0 for i in range(400_000)})");
  const CommandResult result = Bounded({"budget", "check", budget});
  EXPECT_EQ(result.exit_code, 2) << result.standard_error;
  EXPECT_THAT(result.standard_error + result.standard_output,
              HasSubstr(budget + ":1:3476: more than 256 keys in one object; remove those that no "
                                 "budget has"));
}

TEST_F(HostileFilesTest, ABudgetOfMoreAllowancesThanAnybodyWritesIsRefused) {
  const std::string budget = Make("many.json", R"(
allowance = {"stack": ["net::*", "*a*a*a*b"], "reason": "why not"}
write({"component": "net", "allowances": [allowance] * 100_000})
)");
  const CommandResult result = Bounded({"budget", "check", budget});
  EXPECT_EQ(result.exit_code, 2) << result.standard_error;
  EXPECT_THAT(result.standard_error + result.standard_output,
              HasSubstr(": more than 10000 elements in one list; write fewer, with patterns"));
}

}  // namespace
}  // namespace leakgate::test
