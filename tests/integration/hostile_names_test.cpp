// Names of tests that try to be something else where they are shown: terminals, workflows, web
// pages and XML get text and nothing else.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HostileNamesTest : public testing::Test {
 protected:
  HostileNamesTest() {
    std::vector<std::string> options = {
        "--budgets", std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json"};
    for (const std::string& format : ReportFormats()) {
      options.insert(options.end(), {"--report", format + "=" + Path(format)});
    }
    // Below no source: files are told by their whole paths.
    run_ = RunCommand(Gated({FixturePath("hostile_names")}, options),
                      {.directory = directory_.path()});
  }

  std::string Path(const std::string& format) const { return directory_.path() + "/r." + format; }
  std::string Text(const std::string& format) const { return ReadFile(Path(format)); }

  const TemporaryDirectory directory_;
  CommandResult run_;
};

TEST_F(HostileNamesTest, ControlNoTerminal) {
  EXPECT_EQ(run_.exit_code, 1);
  EXPECT_THAT(run_.standard_error, HasSubstr("Clears\\x1b[2J\\x1b[1;31mTheScreen"));
  for (const std::string& text : {run_.standard_error, Text("github"), Text("markdown"),
                                  Text("folded"), Text("junit"), Text("gitlab"), Text("sarif")}) {
    for (const char* control : {"\x1b", "\x07", "\x01", "\xc2\x9b", "\xe2\x80\xae", "\x7f"}) {
      EXPECT_THAT(text, Not(HasSubstr(control)));
    }
  }
}

TEST_F(HostileNamesTest, ForgeNoLineOfAWorkflow) {
  std::istringstream lines(Text("github"));
  int errors = 0;
  for (std::string line; std::getline(lines, line); ++errors) {
    EXPECT_THAT(line, StartsWith("::error file=/"));
    EXPECT_THAT(line, Not(StartsWith("::error title=forged")));
  }
  EXPECT_EQ(errors, 2);  // two call sites, each of eight tests
  EXPECT_THAT(run_.standard_error, Not(HasSubstr("\n::error")));
  EXPECT_THAT(run_.standard_error, Not(HasSubstr("\n##[error]")));
}

TEST_F(HostileNamesTest, AreNoMarkup) {
  EXPECT_EQ(RunCommand({"xmllint", "--noout", Path("junit")}).exit_code, 0);
  for (const char* format : {"markdown", "junit", "html"}) {
    EXPECT_THAT(Text(format), Not(HasSubstr("<script>alert(1)"))) << format;
    EXPECT_THAT(Text(format), Not(HasSubstr("<testcase name=\"forged\""))) << format;
  }
}

TEST_F(HostileNamesTest, LeaveJsonWhole) {
  for (const char* format : {"json", "sarif", "gitlab", "speedscope"}) {
    EXPECT_FALSE(nlohmann::json::parse(Text(format), nullptr, false).is_discarded()) << format;
  }
}

}  // namespace
}  // namespace leakgate::test
