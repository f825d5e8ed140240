// Results in zip archives, whole ones and damaged ones.
#include "runner/results/result_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/results/find_results.h"
#include "runner/results/result_file.h"
#include "tests/unit/results/reports.h"
#include "tests/unit/results/zip_bytes.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ResultTextTest : public merging::ReportsTest {
 protected:
  // outputs.zip, as Bazel makes it of what a test leaves.
  std::filesystem::path Archive(const std::map<std::string, std::string>& files) const {
    std::vector<zip::File> members;
    for (const auto& [name, text] : files) members.push_back({name, text});
    return Write("outputs.zip", zip::Bytes(members));
  }

  static void ChangeByte(const std::filesystem::path& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0xff));
  }

  static std::vector<RunPlace> PlacesIn(const std::filesystem::path& file) {
    std::vector<RunPlace> places;
    const auto read =
        ReadResults(file, [&](RunResult&&, const RunPlace& place) { places.push_back(place); });
    EXPECT_TRUE(read) << read.error().message;
    return places;
  }
};

TEST_F(ResultTextTest, ReportsInAnArchiveBelowADirectoryAreFound) {
  const auto archive = Archive({{"b.json", ToJson(merging::PassingRun())},
                                {"sub/a.json", merging::MergedText({})},
                                {"log.txt", "nothing"}});
  const auto found = FindResults({directory_}, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->files, ElementsAre(archive / "b.json", archive / "sub/a.json"));
  EXPECT_THAT(found->warnings, IsEmpty());
}

TEST_F(ResultTextTest, AnArchiveCanBeNamedAndSoCanAReportInIt) {
  const auto archive = Archive({{"a.json", ToJson(merging::PassingRun())}});
  for (const auto& named : {archive, archive / "a.json"}) {
    const auto found = FindResults({named}, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(found->files, ElementsAre(archive / "a.json"));
  }
}

TEST_F(ResultTextTest, WhatIsNoReportInAnArchiveIsNamed) {
  Archive({{"package.json", "{\"name\": \"x\"}"}});
  const auto found = FindResults({directory_}, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->files, IsEmpty());
  EXPECT_THAT(found->warnings, ElementsAre(HasSubstr("outputs.zip/package.json")));
}

TEST_F(ResultTextTest, ARunInAnArchiveIsReadFromWhereItBegins) {
  const auto first = merging::PassingRun("first");
  const auto second = merging::FailingRun("second");
  const auto archive = Archive({{"merged.json", merging::MergedText({first, second})}});
  const auto places = PlacesIn(archive / "merged.json");
  ASSERT_EQ(places.size(), 2u);
  const auto read = ReadResultAt(places[1]);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->binary, "second");
}

TEST_F(ResultTextTest, AnArchiveThatIsNoneIsAnError) {
  Write("outputs.zip", "PK, but no more");
  const auto found = FindResults({directory_}, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().exit_code, ExitCode::kUsage);
  EXPECT_THAT(found.error().message, HasSubstr("outputs.zip: no zip archive that can be read: "));
}

// The archive's directory is at its end, and whole: only reading tells.
TEST_F(ResultTextTest, ADamagedReportInAnArchiveIsAnError) {
  const auto archive = Archive({{"a.json", ToJson(merging::PassingRun())}});
  ChangeByte(archive, 200);
  const auto read = ReadResults(archive / "a.json", [](RunResult&&, const RunPlace&) {});
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("outputs.zip/a.json:"));
}

TEST_F(ResultTextTest, AReportThatAnArchiveHasNotIsAnError) {
  const auto archive = Archive({{"a.json", "{}"}});
  const auto text = ResultText::Open(archive / "b.json");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("outputs.zip/b.json: cannot be read: "));
}

}  // namespace
}  // namespace leakgate
