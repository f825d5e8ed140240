// Standard output that takes nothing more: a full disk, or a reader that has gone. No command says
// that it has done what it was asked. Every command stands in the table; a new one needs a line.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/integration/launch_commands.h"
#include "tests/support/heap_on_request.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What a command is asked, where it writes to standard output. The words in braces stand for files
// and names. Those that write nothing there are asked for their help alone.
const std::map<std::string, std::string> kCommands = {
    {"leakgate", "--version"},
    {"leakgate-run", "run --allow-no-tests --ctest-measurements -- {program} --gtest_filter=None"},
    {"leakgate-adopt", ""},
    {"leakgate-budget", "budget --help"},
    {"leakgate-budget-schema", "budget schema"},
    {"leakgate-budget-check", "budget check {budget}"},
    {"leakgate-budget-init", ""},
    {"leakgate-budget-ratchet", ""},
    {"leakgate-explain", "explain Kinds.Malloc --budgets {budget}"},
    {"leakgate-merge", ""},
    {"leakgate-history", "history --help"},
    {"leakgate-history-add", ""},
    {"leakgate-history-show", "history show {history}"},
    {"leakgate-history-trend", "history trend {history} --json"},
    {"leakgate-session", "session --help"},
    {"leakgate-session-start", ""},
    {"leakgate-session-exec", ""},
    {"leakgate-session-update", "session update {session} --add-image another"},
    {"leakgate-session-query", "session query {session} --json"},
    {"leakgate-session-list", "session list"},
    {"leakgate-session-stop", ""},
    {"leakgate-session-unit", "session unit web --image nginx --service nginx"},
    {"leakgate-snapshot", "snapshot --help"},
    {"leakgate-snapshot-config", "snapshot config --pid {pid} query"},
    {"leakgate-snapshot-take", ""},
    {"leakgate-snapshot-periodic",
     "snapshot periodic --pid {pid} --every 10ms --stop-after 2 -o {folder}"},
    {"leakgate-snapshot-show", "snapshot show {first} --json"},
    {"leakgate-snapshot-diff", "snapshot diff {first} {second}"},
    {"leakgate-snapshot-export", "snapshot export {second} --format folded"},
    {"leakgate-snapshot-bundle", ""},
    {"leakgate-record", ""},
    {"leakgate-recording", "recording --help"},
    {"leakgate-recording-show", "recording show {recording}"},
    {"leakgate-recording-diff", "recording diff {recording} {recording}"},
    {"leakgate-recording-export", "recording export {recording} --format perfetto"},
    {"leakgate-recording-import", ""},
    {"leakgate-recording-pause", ""},
    {"leakgate-recording-continue", ""},
    {"leakgate-recording-stop", ""},
    {"leakgate-top", "top {session} --json --stop-after 2 --every 10ms"},
    {"leakgate-doctor", "doctor {program}"},
    {"leakgate-framework", "framework"},
    {"leakgate-help", "help budgets"},
    {"leakgate-completion", "completion bash"},
    {"leakgate-man", "man budget check"},
};

class FullOutputTest : public testing::Test {
 protected:
  FullOutputTest() {
    words_["program"] = FixturePath("kinds_untouched");
    words_["budget"] = std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json";
    words_["session"] = session_;
    words_["pid"] = std::to_string(traced_.pid());
    words_["history"] = directory_.File("history");
    words_["recording"] = directory_.File("a.recording");
    words_["folder"] = directory_.File("folder");
    const std::string snapshots = directory_.File("snapshots");
    const std::string result = directory_.File("result.json");
    fs::create_directory(words_["folder"]);
    RunCommand(Gated({words_["program"], "--gtest_filter=Kinds.Malloc"},
                     {"--snapshots", snapshots, "--when", "every", "--report", "json=" + result}));
    Leakgate({"history", "add", words_["history"], result});
    Leakgate({"record", "-o", words_["recording"], "--", words_["program"],
              "--gtest_filter=Kinds.Malloc"});
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(snapshots)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    words_["first"] = files.at(0);
    words_["second"] = files.at(1);
  }
  ~FullOutputTest() override {
    traced_.End();
    Leakgate({"session", "stop", session_});
  }

  // `line` with each word in braces replaced.
  Command CommandOf(const std::string& line) const {
    Command command = {LeakgatePath()};
    std::istringstream parts(line);
    for (std::string part; parts >> part;) {
      for (const auto& [name, word] : words_) {
        const std::string placeholder = "{" + name + "}";
        const std::size_t at = part.find(placeholder);
        if (at != std::string::npos) part.replace(at, placeholder.size(), word);
      }
      command.push_back(part);
    }
    return command;
  }

  // The pages that the definition of the command line makes: one for each command.
  std::vector<std::string> Pages() const {
    const std::string folder = directory_.File("pages");
    EXPECT_EQ(Leakgate({"man", "-o", folder}).exit_code, 0);
    std::vector<std::string> pages;
    for (const auto& entry : fs::directory_iterator(folder)) pages.push_back(entry.path().stem());
    return pages;
  }

  const TemporaryDirectory directory_;
  const std::string session_ = "full-output-" + std::to_string(::getpid());
  HeapOnRequest traced_{session_};
  std::map<std::string, std::string> words_;
};

// "leakgate-budget-check": budget check --help.
std::string HelpOf(std::string page) {
  page.erase(0, std::string("leakgate").size());
  std::replace(page.begin(), page.end(), '-', ' ');
  return page + " --help";
}

void ExpectNoSuccess(const Command& command) {
  const CommandResult full = RunCommand(Behind("exec > /dev/full", command));
  EXPECT_EQ(full.exit_code, 3) << testing::PrintToString(command);
  EXPECT_THAT(full.standard_error,
              HasSubstr("leakgate: cannot write to standard output: No space left on device\n"))
      << testing::PrintToString(command);
}

TEST_F(FullOutputTest, IsNoSuccessOfAnyCommand) {
  for (const std::string& page : Pages()) {
    ExpectNoSuccess(CommandOf(HelpOf(page)));
    const auto known = kCommands.find(page);
    ASSERT_NE(known, kCommands.end()) << page << " needs a line in the table";
    if (known->second.empty()) continue;
    const CommandResult usual = RunCommand(CommandOf(known->second));
    ASSERT_EQ(usual.exit_code, 0) << known->second << "\n" << usual.standard_error;
    ASSERT_NE(usual.standard_output, "") << known->second;
    std::error_code error;
    fs::remove_all(words_["folder"], error);
    fs::create_directory(words_["folder"]);
    ExpectNoSuccess(CommandOf(known->second));
  }
}

TEST_F(FullOutputTest, HidesNoOtherExitCode) {
  const Command bad = CommandOf("budget check {first}");
  const CommandResult usual = RunCommand(bad);
  EXPECT_EQ(usual.exit_code, 2);
  EXPECT_EQ(RunCommand(Behind("exec > /dev/full", bad)).exit_code, 2);
  const Command gated = Gated({words_["program"], "--gtest_filter=Kinds.Malloc"},
                              {"--ctest-measurements", "--budgets", words_["budget"]});
  const CommandResult over = RunCommand(Behind("exec > /dev/full", gated));
  EXPECT_EQ(over.exit_code, 1) << over.standard_error;
}

// The program's own output is its own affair.
TEST_F(FullOutputTest, OfTheProgramAloneIsNoFailureOfTheRun) {
  const Command gated = Gated({words_["program"], "--gtest_filter=None"}, {"--allow-no-tests"});
  const CommandResult full = RunCommand(Behind("exec > /dev/full", gated));
  EXPECT_EQ(full.exit_code, 0) << full.standard_error;
}

// A process that ends by SIGPIPE, as those of other tools do; or looks like that to a shell.
TEST_F(FullOutputTest, WithoutAReaderIsQuiet) {
  const std::string gone = "exec 3> >(true); wait $!; exec >&3 3>&-";
  for (const std::string line : {"framework", "snapshot show {first}", "session list",
                                 "recording export {recording} --format perfetto"}) {
    for (const std::string trap : {"", "trap '' PIPE\n"}) {
      const CommandResult piped = RunCommand(Behind(trap + gone, CommandOf(line)));
      EXPECT_EQ(ShellCode(piped), 128 + SIGPIPE) << trap << line;
      EXPECT_EQ(piped.standard_error, "") << trap << line;
    }
  }
}

}  // namespace
}  // namespace leakgate::test
