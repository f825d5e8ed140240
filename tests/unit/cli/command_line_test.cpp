#include "runner/cli/app/command_line.h"

#include <gmock/gmock.h>

#include "runner/base/path_text.h"
#include "runner/run/etw_run.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

RunCommand ParseRun(const std::vector<std::string>& arguments) {
  const Expected<Command> command = ParseCommandLine(arguments);
  return std::get<RunCommand>(command.value());
}

TEST(OptionsTest, TakesTheProgramAndItsArgumentsFromBehindTheDashes) {
  const RunCommand run = ParseRun({"run", "--", "./net_test", "--timeout", "x", "--", "-h"});
  EXPECT_EQ(run.request.program, "./net_test");
  EXPECT_THAT(run.request.arguments, ElementsAre("--timeout", "x", "--", "-h"));
}

TEST(OptionsTest, HasNoBudgetsReportsOrTimeoutUnlessAskedFor) {
  const RunCommand run = ParseRun({"run", "--", "a"});
  EXPECT_THAT(run.request.budgets, IsEmpty());
  EXPECT_THAT(run.reports, IsEmpty());
  EXPECT_EQ(run.request.timeout, std::nullopt);
}

TEST(OptionsTest, TakesSeveralBudgetsInTheirOrder) {
  const RunCommand run = ParseRun({"run", "--budgets", "b", "--budgets=a", "--", "a"});
  EXPECT_THAT(run.request.budgets, ElementsAre("b", "a"));
}

TEST(OptionsTest, TakesSeveralReportsInTheirOrder) {
  const RunCommand run = ParseRun({"run", "--report", "json=b", "--report", "json=a", "--", "a"});
  EXPECT_THAT(run.reports, ElementsAre(ReportRequest{ReportFormat::kJson, "b"},
                                       ReportRequest{ReportFormat::kJson, "a"}));
}

struct TimeoutCase {
  const char* text;
  int milliseconds;
};

class TimeoutTest : public testing::TestWithParam<TimeoutCase> {};

TEST_P(TimeoutTest, IsReadInSecondsAndNeverBecomesZero) {
  const RunCommand run = ParseRun({"run", "--timeout", GetParam().text, "--", "a"});
  EXPECT_EQ(run.request.timeout, std::chrono::milliseconds(GetParam().milliseconds));
}

INSTANTIATE_TEST_SUITE_P(, TimeoutTest,
                         testing::Values(TimeoutCase{"1", 1000}, TimeoutCase{"0.25", 250},
                                         TimeoutCase{"2.5", 2500}, TimeoutCase{"1e2", 100'000},
                                         TimeoutCase{"0.0001", 1}));

class BadTimeoutTest : public testing::TestWithParam<const char*> {};

TEST_P(BadTimeoutTest, IsAUsageErrorWithAnExample) {
  const std::string argument = std::string("--timeout=") + GetParam();
  const Expected<Command> command = ParseCommandLine({"run", argument, "--", "a"});
  ASSERT_FALSE(command.has_value());
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(command.error().message,
            std::string("--timeout '") + GetParam() +
                "': not a number of seconds above 0; write for example --timeout 60 or "
                "--timeout 0.5");
}

INSTANTIATE_TEST_SUITE_P(, BadTimeoutTest,
                         testing::Values("0", "-1", "soon", "5s", "inf", "nan", "1e10"));

class StackDepthTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(StackDepthTest, IsTakenFromTheLeastToTheGreatest) {
  const RunCommand run = ParseRun({"run", "--stack-depth", std::to_string(GetParam()), "--", "a"});
  EXPECT_EQ(run.request.stack_depth, GetParam());
}

INSTANTIATE_TEST_SUITE_P(, StackDepthTest, testing::Values(1, 3, 256, 1024));

TEST(OptionsTest, CutsStacksAt256FramesUnlessTold) {
  EXPECT_EQ(ParseRun({"run", "--", "a"}).request.stack_depth, 256U);
}

class BadStackDepthTest : public testing::TestWithParam<const char*> {};

TEST_P(BadStackDepthTest, IsAUsageErrorWithTheBoundsAndAnExample) {
  const std::string argument = std::string("--stack-depth=") + GetParam();
  const Expected<Command> command = ParseCommandLine({"run", argument, "--", "a"});
  ASSERT_FALSE(command.has_value());
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(command.error().message,
            std::string("--stack-depth '") + GetParam() +
                "': not a number of frames from 1 to 1024; write for example --stack-depth 512");
}

INSTANTIATE_TEST_SUITE_P(, BadStackDepthTest,
                         testing::Values("0", "1025", "-1", "+5", "deep", "3.5", "10f", " 7",
                                         "4294967552"));

TEST(OptionsTest, GatesAndConfirmsAsBudgetFilesSayUnlessTold) {
  const RunCommand run = ParseRun({"run", "--", "a"});
  EXPECT_EQ(run.request.mode, GateMode::kGate);
  EXPECT_EQ(run.request.confirm, std::nullopt);
  EXPECT_EQ(run.request.confirmation.test, std::chrono::seconds(60));
  EXPECT_EQ(run.request.confirmation.run, std::chrono::minutes(5));
}

TEST(OptionsTest, TakesEachMode) {
  EXPECT_EQ(ParseRun({"run", "--strict", "--", "a"}).request.mode, GateMode::kStrict);
  EXPECT_EQ(ParseRun({"run", "--warn-only", "--", "a"}).request.mode, GateMode::kWarnOnly);
}

TEST(OptionsTest, TakesEachWayToConfirm) {
  EXPECT_EQ(ParseRun({"run", "--confirm=after", "--", "a"}).request.confirm, Confirm::kAfter);
  EXPECT_EQ(ParseRun({"run", "--confirm", "inline", "--", "a"}).request.confirm, Confirm::kInline);
  EXPECT_EQ(ParseRun({"run", "--confirm=off", "--", "a"}).request.confirm, Confirm::kOff);
}

TEST(OptionsTest, TakesHowLongATestMayBeRepeated) {
  const RunCommand run = ParseRun({"run", "--confirm-test-timeout=2.5", "--", "a"});
  EXPECT_EQ(run.request.confirmation.test, std::chrono::milliseconds(2500));
  EXPECT_EQ(run.request.confirmation.run, std::chrono::minutes(5));
}

TEST(OptionsTest, TakesHowLongTestsThatDoNotGrowMayBeRepeated) {
  EXPECT_EQ(ParseRun({"run", "--", "a"}).request.confirmation.time, std::nullopt);
  EXPECT_EQ(ParseRun({"run", "--confirm-time", "30", "--", "a"}).request.confirmation.time,
            std::chrono::seconds(30));
}

TEST(OptionsTest, TakesHowLongAllTestsMayBeRepeated) {
  const RunCommand run = ParseRun({"run", "--confirm-run-timeout", "30", "--", "a"});
  EXPECT_EQ(run.request.confirmation.run, std::chrono::seconds(30));
  EXPECT_EQ(run.request.confirmation.test, std::chrono::seconds(60));
}

TEST(OptionsTest, TakesTheExitCodeOfASkippedRun) {
  EXPECT_EQ(ParseRun({"run", "--", "a"}).skip_exit_code, std::nullopt);
  EXPECT_EQ(ParseRun({"run", "--skip-exit-code", "77", "--", "a"}).skip_exit_code, 77);
  EXPECT_TRUE(ParseRun({"run", "--", "a"}).request.needs_tests);
  EXPECT_FALSE(ParseRun({"run", "--allow-no-tests", "--", "a"}).request.needs_tests);
  EXPECT_FALSE(ParseRun({"run", "--skip-exit-code", "77", "--", "a"}).request.needs_tests);
  EXPECT_EQ(ParseRun({"run", "--exit-code", "9", "--", "a"}).over_budget_exit_code, 9);
}

TEST(OptionsTest, TakesHowMuchToTell) {
  EXPECT_EQ(ParseRun({"run", "--", "a"}).detail, SummaryDetail::kNormal);
  for (const char* option : {"-q", "--quiet"}) {
    EXPECT_EQ(ParseRun({"run", option, "--", "a"}).detail, SummaryDetail::kQuiet);
  }
  for (const char* option : {"-v", "--verbose"}) {
    EXPECT_EQ(ParseRun({"run", option, "--", "a"}).detail, SummaryDetail::kVerbose);
  }
}

struct ProgressCase {
  std::vector<std::string> options;
  ProgressMode mode;
};

TEST(OptionsTest, ShowsProgressWhereItIsInNobodysWayUnlessTold) {
  for (const ProgressCase& it : {ProgressCase{{}, ProgressMode::kAuto},
                                 ProgressCase{{"--progress=auto"}, ProgressMode::kAuto},
                                 ProgressCase{{"--progress=bar"}, ProgressMode::kBar},
                                 ProgressCase{{"--progress", "lines"}, ProgressMode::kLines},
                                 ProgressCase{{"--progress=none"}, ProgressMode::kNone},
                                 ProgressCase{{"--quiet"}, ProgressMode::kNone},
                                 ProgressCase{{"-q", "--progress=bar"}, ProgressMode::kBar}}) {
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), it.options.begin(), it.options.end());
    arguments.insert(arguments.end(), {"--", "a"});
    EXPECT_EQ(ParseRun(arguments).progress, it.mode) << testing::PrintToString(it.options);
  }
}

TEST(OptionsTest, PrintsNoMeasurementsUnlessAskedFor) {
  EXPECT_FALSE(ParseRun({"run", "--", "a"}).prints_measurements);
  EXPECT_TRUE(ParseRun({"run", "--ctest-measurements", "--", "a"}).prints_measurements);
}

struct UsageCase {
  const char* name;
  std::vector<std::string> arguments;
  const char* message;
};

class UsageErrorTest : public testing::TestWithParam<UsageCase> {};

TEST_P(UsageErrorTest, SaysInOneLineWhatIsWrongAndWhatToWrite) {
  const Expected<Command> command = ParseCommandLine(GetParam().arguments);
  ASSERT_FALSE(command.has_value());
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(command.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , UsageErrorTest,
    testing::Values(
        UsageCase{"NoArguments",
                  {},
                  "no command; to run a test binary: leakgate run -- BINARY; see leakgate --help"},
        UsageCase{"UnknownCommand", {"gate"}, "unknown command 'gate'; see leakgate --help"},
        UsageCase{"SwappedLetters",
                  {"rnu"},
                  "unknown command 'rnu' (did you mean run?); see leakgate --help"},
        UsageCase{"NearlyACommandOfAGroup",
                  {"budget", "chekc"},
                  "unexpected argument 'chekc' (did you mean check?); see leakgate budget --help"},
        UsageCase{
            "NearlyAnOption",
            {"run", "--reprot=json=r", "--", "a"},
            "unknown option '--reprot=json=r' (did you mean --report?); see leakgate run --help"},
        UsageCase{"UnknownOption", {"--loud"}, "unknown option '--loud'; see leakgate --help"},
        UsageCase{"UnknownOptionOfRun",
                  {"run", "--loud", "--", "a"},
                  "unknown option '--loud'; see leakgate run --help"},
        UsageCase{"NoDashes",
                  {"run", "./a"},
                  "unexpected argument './a'; the program goes after two dashes: leakgate run -- "
                  "./a"},
        UsageCase{"NoProgram",
                  {"run", "--"},
                  "no program to run; write it after two dashes: leakgate run -- BINARY"},
        UsageCase{"EmptyProgram",
                  {"run", "--", ""},
                  "no program to run; write it after two dashes: leakgate run -- BINARY"},
        UsageCase{"NoProgramToExamine",
                  {"doctor"},
                  "no program to examine; name the test binary: leakgate doctor BINARY"},
        UsageCase{"SelfTestOfAProgram",
                  {"doctor", "--self-test", "./a"},
                  "doctor --self-test takes no program; leave it out, or leave out --self-test"},
        UsageCase{"UnknownOptionOfDoctor",
                  {"doctor", "--deep", "./a"},
                  "unknown option '--deep'; see leakgate doctor --help"},
        UsageCase{"StrictAndWarnOnly",
                  {"run", "--strict", "--warn-only", "--", "a"},
                  "--strict and --warn-only contradict each other; leave one out"},
        UsageCase{"QuietAndVerbose",
                  {"run", "--quiet", "--verbose", "--", "a"},
                  "--quiet and --verbose contradict each other; leave one out"},
        UsageCase{"UnknownWayToShowProgress",
                  {"run", "--progress=dots", "--", "a"},
                  "--progress 'dots': no such way; write --progress=auto, bar, lines or none"},
        UsageCase{"UnknownShell",
                  {"completion", "tcsh"},
                  "no completion for the shell 'tcsh'; there is bash, zsh or fish"},
        UsageCase{"NoShell",
                  {"completion"},
                  "no shell; name it: leakgate completion SHELL, which is bash, zsh or fish"},
        UsageCase{"NoSuchManualPage",
                  {"man", "budget", "chek"},
                  "no manual page for 'budget chek'; see leakgate --help"},
        UsageCase{"ArgumentForFramework",
                  {"framework", "a"},
                  "unexpected argument 'a'; see leakgate framework --help"},
        UsageCase{"ProgramForCompletion",
                  {"completion", "bash", "--", "a"},
                  "the command 'completion' runs no program; leave out what follows --"},
        UsageCase{"UnknownWayToConfirm",
                  {"run", "--confirm=soon", "--", "a"},
                  "--confirm 'soon': no such way; write --confirm=after, inline or off"},
        UsageCase{"BadTimeoutOfATest",
                  {"run", "--confirm-test-timeout=0", "--", "a"},
                  "--confirm-test-timeout '0': not a number of seconds above 0; write for example "
                  "--confirm-test-timeout 60 or --confirm-test-timeout 0.5"},
        UsageCase{"BadTimeoutOfARun",
                  {"run", "--confirm-run-timeout=5m", "--", "a"},
                  "--confirm-run-timeout '5m': not a number of seconds above 0; write for example "
                  "--confirm-run-timeout 60 or --confirm-run-timeout 0.5"},
        UsageCase{"SkipExitCodeOfAnotherMeaning",
                  {"run", "--skip-exit-code=3", "--", "a"},
                  "--skip-exit-code '3': not a number from 4 to 127; write for example "
                  "--skip-exit-code 77"},
        UsageCase{"SkipExitCodeOfASignal",
                  {"run", "--skip-exit-code=128", "--", "a"},
                  "--skip-exit-code '128': not a number from 4 to 127; write for example "
                  "--skip-exit-code 77"},
        UsageCase{"ProgramForFramework",
                  {"framework", "--", "a"},
                  "the command 'framework' runs no program; leave out what follows --"}),
    [](const auto& test) { return std::string(test.param.name); });

std::vector<std::string> NamesDefinedFor(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CommandDefinition& command : DefineCommandsFor(arguments)) {
    names.push_back(command.name);
  }
  return names;
}

// Building the options of thirty commands takes longer than parsing those of one.
TEST(OptionsTest, DefinesOnlyTheCommandThatIsAskedFor) {
  EXPECT_THAT(NamesDefinedFor({"run", "--strict"}), ElementsAre("run"));
  EXPECT_THAT(NamesDefinedFor({"history", "add"}),
              ElementsAre("history", "history add", "history show", "history trend"));
  EXPECT_THAT(NamesDefinedFor({}), IsEmpty());
  EXPECT_THAT(NamesDefinedFor({"--version"}), IsEmpty());
}

TEST(OptionsTest, DefinesAllCommandsWhereNoneComesFirst) {
  EXPECT_EQ(NamesDefinedFor({"--strict", "run"}).size(), DefineCommands().size());
  const Expected<Command> command = ParseCommandLine({"--strict", "run"});
  ASSERT_FALSE(command);
  EXPECT_THAT(command.error().message, HasSubstr("unknown option '--strict'; see leakgate run"));
}

TEST(OptionsTest, HelpIsACommandToo) {
  for (const auto& [words, same] : {std::pair<std::vector<std::string>, std::vector<std::string>>{
                                        {"help", "run"}, {"run", "--help"}},
                                    {{"help", "budget", "check"}, {"budget", "check", "--help"}}}) {
    const Expected<Command> help = ParseCommandLine(words);
    const Expected<Command> option = ParseCommandLine(same);
    ASSERT_TRUE(help && option);
    EXPECT_EQ(std::get<PrintCommand>(*help).text, std::get<PrintCommand>(*option).text);
  }
}

TEST(OptionsTest, HelpListsThePagesOfTheDocumentsBehindTheCommands) {
  const std::string all = Parse<PrintCommand>({"help"}).text;
  EXPECT_THAT(all, StartsWith(Parse<PrintCommand>({"--help"}).text));
  EXPECT_THAT(all, HasSubstr("\n  budgets "));
}

TEST(OptionsTest, HelpShowsAPageUnlessACommandHasItsName) {
  EXPECT_THAT(PathText(Parse<ShowPageCommand>({"help", "budgets"}).file),
              EndsWith("/share/doc/leakgate/docs/budgets.md"));
  EXPECT_THAT(PathText(Parse<ShowPageCommand>({"help", "framework.md"}).file),
              EndsWith("/docs/framework.md"));
  EXPECT_THAT(Parse<PrintCommand>({"help", "framework"}).text, HasSubstr("leakgate framework"));
  EXPECT_EQ(
      ErrorOf({"help", "budgts"}),
      "no command and no page has the name 'budgts' (did you mean budgets?); see leakgate help");
  EXPECT_EQ(ErrorOf({"help", "../LICENSE"}),
            "no command and no page has the name '../LICENSE'; see leakgate help");
}

TEST(OptionsTest, SelfTestOfDoctorNeedsNoProgram) {
  EXPECT_TRUE(Parse<DoctorCommand>({"doctor", "--self-test"}).is_self_test);
}

TEST(OptionsTest, APageThatIsNotInstalledIsOneLine) {
  const Expected<int> shown = Execute(ShowPageCommand{"/nowhere/budgets.md"});
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().message,
            "/nowhere/budgets.md: cannot be read: No such file or directory; install leakgate's "
            "documents, or read them in its sources");
}

TEST(OptionsTest, TakesNoTwoWordsForACommand) {
  const Expected<Command> command = ParseCommandLine({"budget check"});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().message, "unknown command 'budget check'; see leakgate --help");
}

TEST(OptionsTest, NamesAnOptionThatLacksItsValue) {
  const Expected<Command> command = ParseCommandLine({"run", "--report", "--", "a"});
  ASSERT_FALSE(command.has_value());
  EXPECT_THAT(command.error().message, HasSubstr("--report"));
}

TEST(OptionsTest, TakesTheProgramToExamineBeforeOrBehindTheDashes) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"doctor", "./a"}, {"doctor", "--", "./a"}}) {
    const Expected<Command> command = ParseCommandLine(arguments);
    EXPECT_EQ(std::get<DoctorCommand>(command.value()).program, "./a");
  }
}

TEST(OptionsTest, TakesTheArgumentsOfTheProgramToExamine) {
  const Expected<Command> command = ParseCommandLine({"doctor", "--", "./a", "--x"});
  EXPECT_THAT(std::get<DoctorCommand>(command.value()).arguments, ElementsAre("--x"));
}

TEST(OptionsTest, HelpOfDoctorFitsATerminalAndNamesEveryMarkAndExitCode) {
  const Expected<Command> command = ParseCommandLine({"doctor", "--help"});
  const std::string text = std::get<PrintCommand>(command.value()).text;
  for (const char* word :
       {"leakgate doctor BINARY", "--help", "  ok ", "  warn ", "  no ", "  0 ", "  2 ", "  3 "}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[^\n]{81}")));
}

TEST(OptionsTest, PrintsTheVersionInItsFirstLineThenHowItWasBuilt) {
  const Expected<Command> command = ParseCommandLine({"--version"});
  EXPECT_THAT(std::get<PrintCommand>(command.value()).text,
              testing::MatchesRegex("leakgate [0-9.]+ \\(region layout [0-9]+\\)\n"
                                    "build: [^,\n]+, (GCC|Clang) [^\n]+\n"
                                    "libraries: elfutils 0[.][0-9]+, Boost [^\n]+\n"));
}

TEST(OptionsTest, LetsTheSystemTraceWhereItCan) {
  const Expected<Command> command = ParseCommandLine({"run", "--engine", "etw", "--", "a"});
  ASSERT_EQ(command.has_value(), RequireEtw().has_value());
  if (command) return;
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  EXPECT_THAT(command.error().message, HasSubstr("which this system does not have; leave it out"));
}

TEST(OptionsTest, RefusesWithoutTheAgentWhatNeedsIt) {
  const Expected<Command> command =
      ParseCommandLine({"run", "--engine", "etw", "--plant-leak", "--", "a"});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
  EXPECT_TRUE(ParseCommandLine({"run", "--engine", "agent", "--plant-leak", "--", "a"}));
}

class HelpTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(HelpTest, FitsATerminal) {
  const Expected<Command> command = ParseCommandLine(GetParam());
  const std::string text = std::get<PrintCommand>(command.value()).text;
  EXPECT_THAT(text, HasSubstr("leakgate run [OPTIONS] -- BINARY [ARGS...]"));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[^\n]{81}")));
}

INSTANTIATE_TEST_SUITE_P(, HelpTest,
                         testing::Values(std::vector<std::string>{"--help"},
                                         std::vector<std::string>{"-h"},
                                         std::vector<std::string>{"run", "--help"},
                                         std::vector<std::string>{"run", "-h", "--", "a"}));

TEST(OptionsTest, HelpOfRunNamesEveryOptionAndExitCode) {
  const Expected<Command> command = ParseCommandLine({"run", "--help"});
  const std::string text = std::get<PrintCommand>(command.value()).text;
  for (const char* word : {"--budgets",
                           "--report",
                           "--timeout",
                           "--stack-depth",
                           "--engine=",
                           "--confirm=",
                           "--confirm-time",
                           "--confirm-test-timeout",
                           "--confirm-run-timeout",
                           "--confirm-wait",
                           "--strict",
                           "--warn-only",
                           "--baseline",
                           "--quiet",
                           "--verbose",
                           "--skip-exit-code",
                           "--allow-no-tests",
                           "--exit-code",
                           "--ctest-measurements",
                           "--progress=",
                           "{env:NAME}",
                           "  0 ",
                           "  1 ",
                           "  2 ",
                           "  3 "}) {
    EXPECT_THAT(text, HasSubstr(word));
  }
}

}  // namespace
}  // namespace leakgate
