#include "runner/attribution/read_suppressions.h"

#include <gmock/gmock.h>

#include <string>

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Suppression> Parsed(const std::string& text) {
  const auto parsed = ParseSuppressions("a.supp", text);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  return parsed.value_or(std::vector<Suppression>());
}

std::string ErrorOf(const std::string& text) {
  const auto parsed = ParseSuppressions("a.supp", text);
  if (parsed) return "no error";
  EXPECT_EQ(parsed.error().exit_code, ExitCode::kUsage);
  return parsed.error().message;
}

constexpr const char* kOfValgrind = R"(# found in March
{
   <the cache of net>
   Addrcheck,Memcheck:Leak
   match-leak-kinds: definite, indirect
   fun:malloc
   ...
   obj:*/libnet.so*
   src:cache.cc:12
}
)";

TEST(ReadSuppressionsTest, ReadsLeakSanitizersPatternsWithTheirLines) {
  const auto all = Parsed("# ours\n\n  leak:net::Cache  \nleak:^libold.so$\n");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].place, "a.supp:3");
  EXPECT_EQ(all[0].name, "leak:net::Cache");
  EXPECT_EQ(all[0].leak_pattern, "net::Cache");
  EXPECT_THAT(all[0].frames, IsEmpty());
  EXPECT_EQ(all[1].leak_pattern, "^libold.so$");
}

TEST(ReadSuppressionsTest, ReadsValgrindsWithFramesAndKinds) {
  const auto all = Parsed(kOfValgrind);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].place, "a.supp:2");
  EXPECT_EQ(all[0].name, "<the cache of net>");
  EXPECT_EQ(all[0].why_not, "");
  EXPECT_THAT(all[0].kinds, ElementsAre("definite", "indirect"));
  EXPECT_THAT(all[0].frames,
              ElementsAre("fun:malloc", "...", "obj:*/libnet.so*", "src:cache.cc:12"));
}

TEST(ReadSuppressionsTest, LinesMayEndAsOnWindowsAndTheFileMayBeginWithAMark) {
  std::string text = std::string("\xEF\xBB\xBF") + kOfValgrind;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  EXPECT_THAT(Parsed(text).at(0).frames, SizeIs(4));
  EXPECT_EQ(Parsed("leak:net\r\n").at(0).leak_pattern, "net");
  EXPECT_EQ(Parsed("leak:net").at(0).leak_pattern, "net");
}

TEST(ReadSuppressionsTest, SaysOfOtherErrorsThatTheyAreNotAboutLeaks) {
  const auto valgrinds = Parsed(
      "{\n a\n Memcheck:Param\n write(buf)\n fun:write\n}\n"
      "{\n b\n Helgrind:Race\n fun:f\n}\n{\n c\n Memcheck:Leak\n fun:f\n}\n");
  ASSERT_THAT(valgrinds, SizeIs(3));
  EXPECT_EQ(valgrinds[0].why_not, "Memcheck:Param is not about leaks");
  EXPECT_EQ(valgrinds[1].why_not, "Helgrind:Race is not about leaks");
  EXPECT_EQ(valgrinds[2].why_not, "");
  EXPECT_EQ(Parsed("race:Queue::Pop\n").at(0).why_not, "'race' is of another sanitizer's");
}

TEST(ReadSuppressionsTest, AllKindsAreTheSameAsNone) {
  EXPECT_THAT(Parsed("{\n a\n Memcheck:Leak\n match-leak-kinds: all\n fun:f\n}\n").at(0).kinds,
              IsEmpty());
}

TEST(ReadSuppressionsTest, ErrorsNameFileAndLine) {
  EXPECT_THAT(ErrorOf("leak:a\nnonsense\n"),
              HasSubstr("a.supp:2: not a suppression of LeakSanitizer's; write leak:PATTERN"));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n fun:f\n}\nleak:a\n"),
              HasSubstr("a.supp:6: not a suppression of valgrind's; begin it with {"));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n malloc\n}\n"),
              HasSubstr("a.supp:4: not a frame of valgrind's; write fun:, obj:, src: or ..."));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n match-leak-kinds: some\n fun:f\n}\n"),
              HasSubstr("a.supp:4: no kind of leak of valgrind's; write definite"));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n}\n"),
              HasSubstr("a.supp:4: the suppression has no frame; add one"));
  EXPECT_THAT(ErrorOf("\n{\n a\n Memcheck:Leak\n fun:f\n"),
              HasSubstr("a.supp:2: the suppression has no end; close it with }"));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n fun:f\n{\n"),
              HasSubstr("a.supp:1: the suppression has no end"));
}

TEST(ReadSuppressionsTest, AFileWithoutAnyIsRefused) {
  for (const char* const text : {"", "\n\n", "# none yet\n"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("a.supp: no suppressions; ")) << text;
  }
}

TEST(ReadSuppressionsTest, WhatIsNoTextIsRefused) {
  const std::string binary(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0\n\0\0{\0",
      16);
  EXPECT_THAT(ErrorOf(binary), HasSubstr("a.supp:1: not a suppression"));
  EXPECT_THAT(ErrorOf(std::string(1 << 20, 'a')), HasSubstr("a.supp:1: longer than 4096 bytes"));
  EXPECT_THAT(ErrorOf("{\n a\n Memcheck:Leak\n fun:" + std::string(1 << 20, 'a') + "\n}\n"),
              HasSubstr("a.supp:1: the suppression has no end"));
  std::string many;
  for (int i = 0; i <= 10'000; ++i) many += "leak:a\n";
  EXPECT_THAT(ErrorOf(many), HasSubstr("a.supp:10001: more than 10000 suppressions; split"));
}

}  // namespace
}  // namespace leakgate
