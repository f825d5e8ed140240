#include "runner/report/formats/source_excerpts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;
using testing::SizeIs;

std::string NumberedLines(int count) {
  std::string text;
  for (int line = 1; line <= count; ++line) text += std::to_string(line) + "\n";
  return text;
}

ReadSource Always(std::string text) {
  return [text = std::move(text)](const std::string&) { return std::optional(text); };
}

TEST(SourceExcerptsTest, AreAFewLinesAroundTheOneThatIsWanted) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 10, SourceRank::kThen);

  EXPECT_EQ(excerpts.Read(Always(NumberedLines(100))),
            Json::parse(R"([["a.cc", 6, "6", "7", "8", "9", "10", "11", "12", "13"]])"));
}

TEST(SourceExcerptsTest, EndWhereTheFileEnds) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 2, SourceRank::kThen);

  EXPECT_EQ(excerpts.Read(Always("one\r\ntwo")), Json::parse(R"([["a.cc", 1, "one", "two"]])"));
}

TEST(SourceExcerptsTest, TellNothingOfALineBehindTheEnd) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 90, SourceRank::kThen);

  EXPECT_EQ(excerpts.Read(Always("one\ntwo\n")), Json::array());
}

TEST(SourceExcerptsTest, TellNoLineTwice) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 10, SourceRank::kThen);
  excerpts.Want("a.cc", 12, SourceRank::kThen);

  const Json read = excerpts.Read(Always(NumberedLines(100)));
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(read[0], SizeIs(2 + 10));
}

TEST(SourceExcerptsTest, ReadAFileOnceAndOnlyOnesThatAreThere) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 1, SourceRank::kThen);
  excerpts.Want("a.cc", 50, SourceRank::kThen);
  excerpts.Want("gone.cc", 1, SourceRank::kThen);
  int times = 0;
  const Json read = excerpts.Read([&](const std::string& file) -> std::optional<std::string> {
    if (file != "a.cc") return std::nullopt;
    ++times;
    return NumberedLines(100);
  });

  EXPECT_EQ(times, 1);
  EXPECT_THAT(read, SizeIs(2));
}

TEST(SourceExcerptsTest, CutALongLineBetweenCharacters) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 1, SourceRank::kThen);
  std::string text;
  while (text.size() < 1000) text += "\xC3\xA4";
  const Json read = excerpts.Read(Always("x" + text));

  EXPECT_EQ(read[0][2].get<std::string>().size(), 239);
}

TEST(SourceExcerptsTest, GiveRoomFirstToWhatFails) {
  SourceExcerpts excerpts;
  const std::string line(200, 'x');
  std::string text;
  for (int i = 0; i < 9000; ++i) text += line + "\n";
  for (int wanted = 1; wanted < 9000; wanted += 10) {
    excerpts.Want("a.cc", wanted, SourceRank::kThen);
  }
  excerpts.Want("z.cc", 1, SourceRank::kFirst);
  const Json read = excerpts.Read(Always(text));

  EXPECT_EQ(read[0][0], "z.cc");
  EXPECT_LT(read.dump().size(), 600U * 1024);
  EXPECT_LT(read.size(), 900U);
}

TEST(SourceExcerptsTest, ReadNothingWithoutAReader) {
  SourceExcerpts excerpts;
  excerpts.Want("a.cc", 1, SourceRank::kFirst);

  EXPECT_EQ(excerpts.Read({}), Json::array());
}

}  // namespace
}  // namespace leakgate
