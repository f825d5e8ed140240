// FIFOs and devices where leakgate reads files: none of its commands waits for them, or is fed by
// them for ever. Each of these would not end by itself if it did.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class UnfitFilesTest : public testing::Test {
 protected:
  std::string Fifo(const std::string& name) const {
    const std::string path = directory_.File(name);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  std::string Link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, directory_.File(name));
    return directory_.File(name);
  }
  // Throws if it does not end. Nobody but a kernel out of memory ends what /dev/zero feeds.
  CommandResult Run(const Command& command) const {
    return RunCommand(Behind("ulimit -v 8000000", command),
                      {.directory = directory_.path(), .timeout = std::chrono::seconds(60)});
  }
  void ExpectRefused(const Command& arguments, const std::string& file, const std::string& kind) {
    Command command = {LeakgatePath()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const CommandResult result = Run(command);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.standard_output + result.standard_error,
                AllOf(HasSubstr(file + ": cannot be read: it is " + kind + ", not a regular file"),
                      Not(HasSubstr("internal"))));
  }

  const TemporaryDirectory directory_;
};

struct Input {
  const char* name;
  Command before;  // the file
  Command after;

  friend void PrintTo(const Input& input, std::ostream* out) { *out << input.name; }
};

class UnfitInputsTest : public UnfitFilesTest, public testing::WithParamInterface<Input> {
 protected:
  void ExpectRefused(const std::string& file, const std::string& kind) {
    Command arguments = GetParam().before;
    arguments.push_back(file);
    arguments.insert(arguments.end(), GetParam().after.begin(), GetParam().after.end());
    UnfitFilesTest::ExpectRefused(arguments, file, kind);
  }
};

TEST_P(UnfitInputsTest, AreNoFifos) { ExpectRefused(Fifo("fifo.json"), "a FIFO"); }

TEST_P(UnfitInputsTest, AreNoLinksToFifos) {
  ExpectRefused(Link("link.json", Fifo("fifo")), "a FIFO");
}

TEST_P(UnfitInputsTest, AreNoLinksToDevices) {
  ExpectRefused(Link("link.json", "/dev/zero"), "a device");
}

INSTANTIATE_TEST_SUITE_P(
    , UnfitInputsTest,
    testing::Values(Input{"budget", {"run", "--budgets"}, {"--", "true"}},
                    Input{"checked_budget", {"budget", "check"}, {}},
                    Input{"baseline", {"run", "--baseline"}, {"--", "true"}},
                    Input{"result", {"merge"}, {}},
                    Input{"shown_snapshot", {"snapshot", "show"}, {}},
                    Input{"compared_snapshot", {"snapshot", "diff"}, {"other.snapshot"}},
                    Input{"exported_snapshot", {"snapshot", "export", "--format", "json"}, {}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(UnfitFilesTest, AmongBudgetsAreRefused) {
  ExpectRefused({"run", "--budgets", directory_.path(), "--", "true"}, Fifo("a.leakgate.json"),
                "a FIFO");
}

TEST_F(UnfitFilesTest, BehindLinksAmongBudgetsAreRefused) {
  ExpectRefused({"run", "--budgets", directory_.path(), "--", "true"},
                Link("a.leakgate.json", "/dev/zero"), "a device");
}

// A budget from a redirected file, as before.
TEST_F(UnfitFilesTest, DoNotIncludeAFileThatIsStandardInput) {
  directory_.Write("a.json", R"({"component": "a"})");
  const CommandResult result =
      Run(Behind("exec < a.json", {LeakgatePath(), "budget", "check", "/dev/stdin"}));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
}

// What the tests were to write for GoogleTest's users.
TEST_F(UnfitFilesTest, AsTestResultsAreLeftAlone) {
  const CommandResult result =
      Run(Gated({"sh", "-c", "rm -f out.xml && mkfifo out.xml", "sh", "--gtest_output=xml:out.xml"},
                {"--timeout", "20"}));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
}

// A program whose debug information is elsewhere, in what `finish` makes of it.
class UnfitDebugFilesTest : public UnfitFilesTest {
 protected:
  static constexpr char kSource[] =
      "#include <cstdlib>\n"
      "void* volatile kept;\n"
      "int main() { kept = std::malloc(100); kept = nullptr; }\n";

  void Compile(const std::string& flags, const std::string& finish) {
    directory_.Write("program.cpp", kSource);
    const CommandResult made =
        RunCommand({"sh", "-c", "g++ " + flags + " program.cpp -o program && " + finish},
                   {.directory = directory_.path()});
    ASSERT_EQ(made.exit_code, 0) << made.standard_error;
  }
  CommandResult Judge() {
    const std::string budget = directory_.Write(
        "budget.json",
        R"({"component": "a", "limits": {"program": {"outstanding": {"bytes": 0}}}})");
    return Run(Gated({directory_.File("program")}, {"--budgets", budget}));
  }
  // The leak is found, named by the symbols alone or not at all.
  void ExpectJudged() {
    const CommandResult run = Judge();
    EXPECT_EQ(run.exit_code, 1) << run.standard_error;
    EXPECT_THAT(run.standard_error, HasSubstr("100 B"));
  }
  void ExpectExamined() {
    const CommandResult doctor = Run({LeakgatePath(), "doctor", "--", directory_.File("program")});
    EXPECT_THAT(doctor.standard_output, HasSubstr("lines"));
  }
};

constexpr char kSplit[] =
    "objcopy --only-keep-debug program program.debug && strip -g program && "
    "objcopy --add-gnu-debuglink=program.debug program && ";

TEST_F(UnfitDebugFilesTest, ByLinkAreNotOpened) {
  Compile("-g", std::string(kSplit) + "rm program.debug && mkfifo program.debug");
  ExpectJudged();
  ExpectExamined();
}

TEST_F(UnfitDebugFilesTest, InTheirOwnDirectoryAreNotOpened) {
  Compile("-g",
          std::string(kSplit) + "rm program.debug && mkdir .debug && mkfifo .debug/program.debug");
  ExpectJudged();
}

TEST_F(UnfitDebugFilesTest, ByLinkAreNoDevices) {
  Compile("-g -Wl,--build-id=none",
          std::string(kSplit) + "rm program.debug && ln -s /dev/zero program.debug");
  ExpectJudged();
}

TEST_F(UnfitDebugFilesTest, ByNoLinkAreNotOpened) {
  Compile("-Wl,--build-id=none", "mkfifo program.debug");
  ExpectJudged();
  ExpectExamined();
}

TEST_F(UnfitDebugFilesTest, ThatSplitUnitsNameAreNotOpened) {
  for (const char* const version : {"-gdwarf-4", "-gdwarf-5"}) {
    Compile(std::string("-gsplit-dwarf ") + version,
            "rm -f fifo *.dwo && mkfifo fifo && for unit in program program-program; do "
            "ln -s fifo $unit.dwo; done");
    ExpectJudged();
    ExpectExamined();
    fs::remove(directory_.File("fifo"));
  }
}

// dwz -m puts what two programs share into a third file, and names it.
TEST_F(UnfitDebugFilesTest, ThatDwzNamesAreNotOpened) {
  Compile("-g",
          "printf 'shared.debug\\0abcdefghijklmnopqrst' > link && "
          "objcopy --add-section .gnu_debugaltlink=link program && mkfifo shared.debug");
  ExpectJudged();
  ExpectExamined();
}

// The same program's debug file is still found, by its build-id or its checksum.
TEST_F(UnfitDebugFilesTest, AreNotWhatGoodDebugFilesAreTakenFor) {
  for (const char* const flags : {"-g -Wl,--build-id", "-g -Wl,--build-id=none"}) {
    Compile(flags, std::string(kSplit) + "true");
    EXPECT_THAT(Judge().standard_error, HasSubstr("program.cpp:3")) << flags;
  }
}

}  // namespace
}  // namespace leakgate::test
