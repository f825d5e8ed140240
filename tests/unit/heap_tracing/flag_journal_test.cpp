#include "runner/heap_tracing/flag_journal.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JournalEntry SomeEntry() {
  return {.image = {"WWAHost.exe", "Package_1.0!App"},
          .former = FlagValue{1, std::string("2\0\xff\0", 4)},
          .ours = NumberValue(1),
          .new_keys = 1,
          .is_changing = false,
          .holders = {{"web", "J\xc3\xb6rg", 4711, 1'790'000'000}}};
}

TEST(FlagJournalTest, IsReadAsItWasWritten) {
  const FlagJournal journal = {
      SomeEntry(), {.image = {"a.exe"}, .former = {}, .ours = NumberValue(3), .new_keys = 0}};

  EXPECT_EQ(ReadFlagJournal(FlagJournalText(journal)).value(), journal);
  EXPECT_EQ(ReadFlagJournal(FlagJournalText({})).value(), FlagJournal());
}

TEST(FlagJournalTest, LeadsToNoOtherKeyWhateverStandsInIt) {
  for (const FlaggedImage& image :
       {FlaggedImage{"..\\a.exe"}, FlaggedImage{"a.exe\\b"}, FlaggedImage{"a/b.exe"},
        FlaggedImage{""}, FlaggedImage{"a.exe", "p!a\\..\\..\\Run"},
        FlaggedImage{"a.exe", "no mark"}, FlaggedImage{std::string("a.exe\0b", 7)}}) {
    JournalEntry entry = SomeEntry();
    entry.image = image;
    EXPECT_FALSE(ReadFlagJournal(FlagJournalText({entry}))) << TextOf(image);
  }
}

TEST(FlagJournalTest, IsRefusedWhereAnythingIsMissingOrDamaged) {
  const std::string whole = FlagJournalText({SomeEntry()});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ReadFlagJournal(whole.substr(0, length))) << length;
  }
  EXPECT_THAT(ReadFlagJournal(R"({"version": 2, "flags": []})").error().message,
              HasSubstr("later leakgate"));
}

TEST(FlaggedImageTest, IsTheNameOfAFileOrAnApplicationThatItHosts) {
  EXPECT_EQ(ParseFlaggedImage("--image", "a.exe").value(), FlaggedImage{"a.exe"});
  EXPECT_EQ(ParseFlaggedImage("--image", "a.exe:P_1!A").value(), (FlaggedImage{"a.exe", "P_1!A"}));
  for (const char* const text : {"", "nginx", "C:\\a.exe", "a\\b.exe", "*.exe", "a.exe:", "a.exe:P",
                                 "a.exe:!A", "a.exe:P!", "a.exe:P!A\\b"}) {
    const auto parsed = ParseFlaggedImage("--image", text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().exit_code, ExitCode::kUsage);
  }
}

TEST(FlaggedImageTest, IsTheSameInAnyCase) {
  EXPECT_TRUE(AreSame({"App.exe", "P!A"}, {"aPP.EXE", "p!a"}));
  EXPECT_FALSE(AreSame({"App.exe"}, {"App.exe", "p!a"}));
}

TEST(FlagValueTest, TheHeapsBitIsSetBesideOthers) {
  EXPECT_EQ(WithHeapTracing(std::nullopt), NumberValue(1));
  EXPECT_EQ(WithHeapTracing(NumberValue(0x106)), NumberValue(0x107));
  EXPECT_EQ(WithHeapTracing(FlagValue{1, "2"}), NumberValue(1));
  EXPECT_EQ(TextOf(std::optional(NumberValue(0x80000001))), "0x80000001");
  EXPECT_EQ(TextOf(std::optional(FlagValue{1, "abc"})), "3 bytes of type 1");
}

}  // namespace
}  // namespace leakgate
