#include "runner/results/find_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FindResultsTest : public merging::ReportsTest {};

TEST_F(FindResultsTest, FindsTheReportsBelowADirectoryAndNamesTheOthers) {
  const auto b = Write("sub/b.json", merging::MergedText({}));
  const auto a = Write("a.json", ToJson(merging::PassingRun()));
  Write("package.json", "{\"name\": \"x\"}");
  Write("notes.txt", "nothing");
  const auto found = FindResults({directory_}, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->files, ElementsAre(a, b));
  EXPECT_THAT(found->warnings, ElementsAre(HasSubstr("package.json")));
}

TEST_F(FindResultsTest, LeavesOutWhatIsGoingToBeWritten) {
  const auto output = Write("merged.json", ToJson(merging::PassingRun()));
  const auto found = FindResults({directory_}, {output});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->files, IsEmpty());
}

TEST_F(FindResultsTest, DoesNotTakeACutOffFileForSomethingElse) {
  Write("cut.json", "{\"sch");
  const auto found = FindResults({directory_}, {});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("cut.json:1:6: the file was cut off"));
}

TEST_F(FindResultsTest, NamesEachFileOnce) {
  const auto a = Write("a.json", ToJson(merging::PassingRun()));
  const auto found = FindResults({a, directory_, a}, {});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->files, ElementsAre(a));
}

}  // namespace
}  // namespace leakgate
