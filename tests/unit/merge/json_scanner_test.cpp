// The scanner takes what nlohmann/json takes, refuses what it refuses, and tells by
// its digests what is the same. The text comes in pieces of all sizes.
#include "runner/merge/json_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

JsonScanner::Read InPieces(std::string text, std::size_t piece) {
  return [text = std::move(text), piece, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t count = std::min({size, piece, text.size() - at});
    std::copy_n(text.data() + at, count, to);
    at += count;
    return count;
  };
}

bool Takes(const std::string& text, std::size_t piece = 1) {
  JsonScanner scanner(InPieces(text, piece));
  return scanner.Any() && scanner.AtEnd();
}

Digest DigestOf(const std::string& text, std::size_t piece = 1) {
  JsonScanner scanner(InPieces(text, piece));
  EXPECT_TRUE(scanner.Any()) << text;
  return scanner.digest();
}

JsonScanner::Problem ProblemOf(const std::string& text) {
  JsonScanner scanner(InPieces(text, 3));
  EXPECT_FALSE(scanner.Any() && scanner.AtEnd()) << text;
  return scanner.problem().value_or(JsonScanner::Problem{});
}

const std::vector<std::string> kTexts = {"0",
                                         "-0",
                                         "01",
                                         "-",
                                         "1.5",
                                         "1.",
                                         ".5",
                                         "1e5",
                                         "1e",
                                         "1E+5",
                                         "1e-400",
                                         "1e999",
                                         "+1",
                                         "123456789012345678901234567890",
                                         "true",
                                         "tru",
                                         "truex",
                                         "null",
                                         "nul",
                                         "\"\"",
                                         "\"a",
                                         "\"\\n\"",
                                         "\"\\x\"",
                                         "\"\\u00e9\"",
                                         "\"\\u00g9\"",
                                         "\"\\ud83d\\ude00\"",
                                         "\"\\ud83d\"",
                                         "\"\\ud83dx\"",
                                         "\"\\ude00\"",
                                         "\"\xC3\xA9\"",
                                         "\"\xC3\"",
                                         "\"\xC0\x80\"",
                                         "\"\xED\xA0\x80\"",
                                         "\"\xF0\x9F\x98\x80\"",
                                         "\"\xF5\x80\x80\x80\"",
                                         "\"\xE2\x82\"",
                                         "\"\n\"",
                                         "\"\t\"",
                                         "[]",
                                         "[1]",
                                         "[1,]",
                                         "[,1]",
                                         "[1 2]",
                                         "[1,2",
                                         "{}",
                                         "{\"a\":1}",
                                         "{\"a\":1,}",
                                         "{\"a\" 1}",
                                         "{a:1}",
                                         "{\"a\":}",
                                         "{\"a\":1 \"b\":2}",
                                         "{\"a\":[{\"b\":null}]}",
                                         " [ 1 , 2 ] ",
                                         "[1]x",
                                         "",
                                         "  ",
                                         "]",
                                         "}",
                                         "nan",
                                         "\xEF\xBB\xBF{}",
                                         "[1]//",
                                         "'a'",
                                         "\"\\",
                                         "\"\\u12",
                                         "[\"\x7F\"]"};

TEST(JsonScannerTest, TakesWhatNlohmannJsonTakesInPiecesOfAnySize) {
  for (const std::string& text : kTexts) {
    const bool is_json = nlohmann::json::accept(text);
    for (const std::size_t piece : {1u, 2u, 3u, 1000u}) {
      EXPECT_EQ(Takes(text, piece), is_json) << text << " in pieces of " << piece;
    }
  }
}

TEST(JsonScannerTest, TellsTheSameContentHoweverItIsWritten) {
  EXPECT_EQ(DigestOf("{\"a\":1,\"b\":[true,\"\\u00e9/\"]}"),
            DigestOf(" { \"b\" : [ true , \"\xC3\xA9\\/\" ] ,\n \"a\" : 1 } ", 1000));
}

TEST(JsonScannerTest, TellsOtherContentApart) {
  const std::vector<std::string> others = {"1",
                                           "2",
                                           "-1",
                                           "\"1\"",
                                           "1.5",
                                           "[1]",
                                           "[[1]]",
                                           "[1,1]",
                                           "[]",
                                           "{}",
                                           "null",
                                           "true",
                                           "false",
                                           "\"\"",
                                           "{\"a\":1}",
                                           "{\"a\":2}",
                                           "{\"b\":1}",
                                           "{\"a\":1,\"b\":2}",
                                           "{\"a\":2,\"b\":1}",
                                           "[1,2]",
                                           "[2,1]",
                                           "[[1],2]",
                                           "[1,[2]]",
                                           "[{}]",
                                           "[[]]"};
  std::vector<Digest> digests;
  for (const std::string& text : others) digests.push_back(DigestOf(text));
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

TEST(JsonScannerTest, ReadsStringsThatAreLongerThanItsBuffer) {
  const std::string half(300'000, 'x');
  JsonScanner scanner(InPieces("[\"" + half + "\\n\xC3\xA9" + half + "\"]", 70'001));
  std::string_view text;
  std::string read;
  EXPECT_TRUE(scanner.Array([&] {
    const bool is_string = scanner.String(text);
    read = text;
    return is_string;
  }));
  EXPECT_EQ(read, half + "\n\xC3\xA9" + half);
}

TEST(JsonScannerTest, HashesTheBytesOfATextWhateverThePieces) {
  const std::string text = "[\"" + std::string(600'000, 'x') + "\", 1, {\"a\": null}]";
  const auto hash_of = [&](std::size_t piece) {
    JsonScanner scanner(InPieces("  " + text + "  ", piece));
    EXPECT_EQ(scanner.BeginText(), 2u);
    EXPECT_TRUE(scanner.Any());
    EXPECT_EQ(scanner.offset(), 2 + text.size());
    return scanner.EndText();
  };
  const XXH128_hash_t whole = XXH3_128bits(text.data(), text.size());
  EXPECT_EQ(hash_of(999), (Digest{whole.low64, whole.high64}));
  EXPECT_EQ(hash_of(1 << 20), (Digest{whole.low64, whole.high64}));
}

TEST(JsonScannerTest, SaysWhereTheProblemIs) {
  EXPECT_EQ(ProblemOf("{\"a\": 1,\n \"b\" 2}").offset, 14u);
  EXPECT_EQ(ProblemOf("[1, 2 3]").offset, 6u);
  EXPECT_EQ(ProblemOf("[1, 1e999]").offset, 4u);
}

TEST(JsonScannerTest, SaysOfATextThatEndsTooEarlyThatItWasCutOff) {
  const std::string text = "{\"a\": [1.5e3, \"x\\u00e9\xC3\xA9\", true, null]}";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const JsonScanner::Problem problem = ProblemOf(text.substr(0, size));
    EXPECT_TRUE(problem.is_cut_off) << size;
    EXPECT_EQ(problem.offset, size);
  }
}

TEST(JsonScannerTest, RefusesDeepNestingInsteadOfRunningOutOfStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(ProblemOf(deep).text, testing::HasSubstr("nested deeper than 64"));
  EXPECT_TRUE(Takes(std::string(64, '[') + std::string(64, ']')));
}

std::string Repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::string ObjectOf(std::size_t keys) {
  std::string text = "{\"\": 0";
  for (std::size_t i = 1; i < keys; ++i) text += fmt::format(",\"{}\": 0", i);
  return text + '}';
}

TEST(JsonScannerTest, TakesAnObjectOfAsManyKeysAsAnyReportHasAndNoLarger) {
  EXPECT_TRUE(Takes(ObjectOf(JsonScanner::kMostKeys)));
  EXPECT_EQ(ProblemOf(ObjectOf(JsonScanner::kMostKeys + 1)).text,
            "more than 256 keys in one object; run again what wrote it");
}

// `begin`, and `more` of it without an end.
JsonScanner::Read Endless(std::string begin, std::string more, std::size_t& read) {
  return [=, &read](char* to, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, ++read) {
      to[i] = read < begin.size() ? begin[read] : more[(read - begin.size()) % more.size()];
    }
    return size;
  };
}

// What has been read is what may be in memory.
TEST(JsonScannerTest, ReadsNoTokenThatIsLongerThanAnyReportHas) {
  for (const auto& [begin, more] : std::vector<std::pair<std::string, std::string>>{
           {"\"", "a"}, {"\"", "\\n"}, {"\"", "\\u00e9"}, {"[0.", "3"}, {"{\"", "a"}}) {
    std::size_t read = 0;
    JsonScanner scanner(Endless(begin, more, read));
    EXPECT_FALSE(scanner.Any() && scanner.AtEnd());
    EXPECT_EQ(scanner.problem()->text,
              "a text or number of more than 16 MiB; run again what wrote it");
    EXPECT_LT(read, std::size_t{64} << 20) << more;
  }
}

TEST(JsonScannerTest, CostsAsMuchForEachByteHoweverManyThereAre) {
  using Shape = std::function<std::string(std::size_t)>;
  const std::vector<Shape> shapes = {
      [](std::size_t n) { return '"' + Repeated("\\u00e9", n) + '"'; },
      [](std::size_t n) { return '"' + std::string(n * 6, 'a') + '"'; },
      [](std::size_t n) { return "0." + std::string(n * 6, '3'); },
      [](std::size_t n) { return std::string(n * 6, ' ') + '0'; },
      [](std::size_t n) { return "[0" + Repeated(",{}", n * 2) + ']'; },
      [](std::size_t n) { return "[0" + Repeated(",[[[[[[]]]]]]", n / 2) + ']'; },
      [](std::size_t n) { return "[0" + Repeated(',' + ObjectOf(256), n / 256) + ']'; }};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double growth = test::GrowthOfCost(
        50'000, shapes[i], [](const std::string& text) { EXPECT_TRUE(Takes(text, 1 << 18)); });
    EXPECT_LT(growth, test::kMostGrowth) << "shape " << i;
  }
}

}  // namespace
}  // namespace leakgate
