#include "runner/report/style.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(StyleTest, PrintsPlainTextUnchanged) {
  EXPECT_EQ(Printable("Suite.Test/0 <int>"), "Suite.Test/0 <int>");
}

TEST(StyleTest, EscapesControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(Printable("a\nb\rc\td\x7f"), "a\\x0ab\\x0dc\\x09d\\x7f");
}

TEST(StyleTest, EscapesANulCharacter) {
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(StyleTest, EscapesControlCharactersInTheirTwoByteForm) {
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
}

TEST(StyleTest, EscapesWhatTurnsTheDirectionOfText) {
  EXPECT_EQ(Printable("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(Printable("\u2066\u200f\u2028\u061c"),
            "\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xe2\\x80\\xa8\\xd8\\x9c");
  EXPECT_EQ(Printable("\u2010\u2030\u2070"), "\u2010\u2030\u2070");
}

TEST(StyleTest, KeepsUtf8) { EXPECT_EQ(Printable("Größe · 日本 😀"), "Größe · 日本 😀"); }

TEST(StyleTest, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(Printable("cut \xe6\x97"), "cut \\xe6\\x97");
  EXPECT_EQ(Printable("\xc3("), "\\xc3(");
}

TEST(StyleTest, EscapesOverlongFormsAndSurrogates) {
  EXPECT_EQ(Printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(Printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf0\x80\x80\x80"), "\\xf0\\x80\\x80\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(StyleTest, CountsACodePointAsOneColumn) { EXPECT_EQ(Columns("64 B · new"), 10U); }

TEST(StyleTest, PadsToAColumnAndLeavesLongerTextAlone) {
  EXPECT_EQ(PadRight("·", 3), "·  ");
  EXPECT_EQ(PadRight("abcd", 3), "abcd");
}

TEST(StyleTest, PaintsOnlyWhenColourIsOn) {
  EXPECT_EQ(Paint("x", Emphasis::kBad, Colour::kOff), "x");
  EXPECT_EQ(Paint("x", Emphasis::kBad, Colour::kOn), "\x1b[1;31mx\x1b[0m");
}

TEST(StyleTest, PaintsNothingOnNoText) { EXPECT_EQ(Paint("", Emphasis::kBad, Colour::kOn), ""); }

TEST(StyleTest, TellsEachEmphasisByItsColour) {
  EXPECT_EQ(Paint("x", Emphasis::kHeading, Colour::kOn), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(Paint("x", Emphasis::kOwnFrame, Colour::kOn), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(Paint("x", Emphasis::kGood, Colour::kOn), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(Paint("x", Emphasis::kUncertain, Colour::kOn), "\x1b[33mx\x1b[0m");
  EXPECT_EQ(Paint("x", Emphasis::kInTheDistance, Colour::kOn), "\x1b[2mx\x1b[0m");
}

}  // namespace
}  // namespace leakgate
