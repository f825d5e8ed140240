// Reports that somebody else made up: merging them reads the results that it is given, and
// no other file that they name.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/html_page.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kSecret[] = "the secret of this machine";

class ForeignReportTest : public testing::Test {
 protected:
  ForeignReportTest() {
    run_ = RunByDefault({FixturePath("kinds_listener"), "--gtest_filter=Kinds.Malloc"}).report;
  }

  // The page of a merge of one report, in which all frames are of `file`.
  std::string Merge(const std::string& file, const std::vector<std::string>& options = {}) {
    for (auto& window : run_["windows"]) {
      for (auto& finding : window["findings"]) {
        for (auto& frame : finding["stack"]) {
          frame["file"] = file;
          frame["line"] = 1;
        }
      }
    }
    const std::string result = directory_.Write("forged.json", run_.dump());
    page_ = directory_.File("page.html");
    std::vector<std::string> command = {"merge", result, "--report", "html=" + page_};
    command.insert(command.end(), options.begin(), options.end());
    const CommandResult merged = Leakgate(command);
    EXPECT_EQ(merged.exit_code, 1) << merged.standard_error;
    return ReadFile(page_);
  }

  const TemporaryDirectory directory_;
  const TemporaryDirectory sources_;
  std::string page_;
  nlohmann::json run_;
};

TEST_F(ForeignReportTest, LeaksNoFileIntoThePage) {
  for (const char* const name : {"shadow", "private.cc"}) {
    const std::string page = Merge(sources_.Write(name, kSecret));
    EXPECT_EQ(page.find(kSecret), std::string::npos) << name;
    EXPECT_THAT(ReportInPage(page)["sources"], IsEmpty());
  }
}

TEST_F(ForeignReportTest, IsQuotedFromBelowTheSourceRootThatIsNamed) {
  std::filesystem::create_directory(sources_.File("root"));
  const std::vector<std::string> below = {"--source-root", sources_.File("root")};
  const auto quoted = [&](const std::string& file) {
    return Merge(sources_.File(file), below).find(kSecret) != std::string::npos;
  };
  sources_.Write("outside.cc", kSecret);
  sources_.Write("root/inside.cc", kSecret);
  sources_.Write("root/shadow", kSecret);
  std::filesystem::create_symlink("../outside.cc", sources_.File("root/link.cc"));

  EXPECT_TRUE(quoted("root/inside.cc"));
  for (const char* const file :
       {"outside.cc", "root/../outside.cc", "root/link.cc", "root/shadow"}) {
    EXPECT_FALSE(quoted(file)) << file;
  }
}

TEST_F(ForeignReportTest, WantsASourceRootThatIsThere) {
  const CommandResult merged =
      Leakgate({"merge", directory_.path(), "--report", "html=" + directory_.File("page.html"),
                "--source-root", "no/such/directory"});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.standard_error,
              HasSubstr("--source-root no/such/directory: no such directory; correct the path"));
}

// The run's own report quotes its sources, those below a root only if it is told so.
TEST_F(ForeignReportTest, IsNoneThatTheRunItselfWrites) {
  const auto sources = [&](const std::vector<std::string>& options) {
    const std::string page = directory_.File("own.html");
    std::vector<std::string> command = {"run", "--report", "html=" + page};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(),
                   {"--", FixturePath("kinds_listener"), "--gtest_filter=Kinds.Malloc"});
    (void)Leakgate(command);
    return ReportInPage(ReadFile(page))["sources"];
  };
  EXPECT_THAT(sources({}), Not(IsEmpty()));
  EXPECT_THAT(sources({"--source-root", LEAKGATE_SOURCE_DIR}), Not(IsEmpty()));
  EXPECT_THAT(sources({"--source-root", sources_.path()}), IsEmpty());
}

}  // namespace
}  // namespace leakgate::test
