#include "runner/budget/located_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LocatedValue ParseValue(std::string_view text) {
  const Expected<LocatedValue> value = ParseLocatedJson("a.json", text);
  if (!value) ADD_FAILURE() << value.error().message;
  return value.value_or(LocatedValue{});
}

std::string ParsingErrorOf(std::string_view text) {
  const Expected<LocatedValue> value = ParseLocatedJson("a.json", text);
  if (value) return "no error";
  EXPECT_EQ(value.error().exit_code, ExitCode::kUsage);
  return value.error().message;
}

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(LocatedJsonTest, KeepsEveryKindOfValue) {
  const LocatedValue array = ParseValue(R"([null, true, 5, "x", [], {}])");
  std::vector<JsonKind> kinds;
  for (const LocatedValue& element : array.elements) kinds.push_back(element.kind);
  EXPECT_THAT(kinds, ElementsAre(JsonKind::kNull, JsonKind::kBoolean, JsonKind::kNumber,
                                 JsonKind::kString, JsonKind::kArray, JsonKind::kObject));
}

TEST(LocatedJsonTest, KeepsScalarsAsWritten) {
  const LocatedValue array = ParseValue(R"([null, false, -5, 1.50, "x", 99999999999999999999])");
  std::vector<std::string> texts;
  for (const LocatedValue& element : array.elements) texts.push_back(element.text);
  EXPECT_THAT(texts, ElementsAre("null", "false", "-5", "1.50", "x", "99999999999999999999"));
}

TEST(LocatedJsonTest, KeepsMembersInOrder) {
  const LocatedValue object = ParseValue(R"({"b": 1, "a": 2})");
  ASSERT_EQ(object.members.size(), 2U);
  EXPECT_EQ(object.members[0].key, "b");
  EXPECT_EQ(object.members[1].key, "a");
}

TEST(LocatedJsonTest, PutsANumberOnItsOwnLineWhenANewlineFollows) {
  const LocatedValue array = ParseValue("[\n1\n,\n2\n]");
  ASSERT_EQ(array.elements.size(), 2U);
  EXPECT_EQ(array.elements[0].line, 2);
  EXPECT_EQ(array.elements[1].line, 4);
}

TEST(LocatedJsonTest, PutsContainersOnTheLineWhereTheyOpen) {
  const LocatedValue object = ParseValue("{\n\"a\":\n{\n},\n\"b\": [\n]\n}");
  ASSERT_EQ(object.members.size(), 2U);
  EXPECT_EQ(object.line, 1);
  EXPECT_EQ(object.members[0].line, 2);
  EXPECT_EQ(object.members[0].value.line, 3);
  EXPECT_EQ(object.members[1].value.line, 5);
}

TEST(LocatedJsonTest, KnowsTheColumnWhereEachKeyAndValueBegins) {
  const LocatedValue object =
      ParseValue("{ \"a\" : [7 ,\"x\\\"y\", true], \"b\":{}\n, \"c\": -1.5}");
  ASSERT_EQ(object.members.size(), 3U);
  EXPECT_EQ(object.members[0].column, 3);
  const LocatedValue& array = object.members[0].value;
  EXPECT_EQ(array.column, 9);
  ASSERT_EQ(array.elements.size(), 3U);
  EXPECT_EQ(array.elements[0].column, 10);
  EXPECT_EQ(array.elements[1].column, 13);
  EXPECT_EQ(array.elements[2].column, 21);
  EXPECT_EQ(object.members[1].value.column, 32);
  EXPECT_EQ(object.members[2].line, 2);
  EXPECT_EQ(object.members[2].value.column, 8);
}

TEST(LocatedJsonTest, KnowsTheTextOfEachValue) {
  const std::string text = "\xEF\xBB\xBF{\"a\": [7, \"x\" ], \"b\":-1.50e3}";
  const LocatedValue object = ParseValue(text);
  const auto text_of = [&](const LocatedValue& value) {
    return text.substr(value.begin, value.end - value.begin);
  };
  ASSERT_EQ(object.members.size(), 2U);
  EXPECT_EQ(text_of(object), text.substr(3));
  EXPECT_EQ(text_of(object.members[0].value), "[7, \"x\" ]");
  EXPECT_EQ(text_of(object.members[0].value.elements[0]), "7");
  EXPECT_EQ(text_of(object.members[0].value.elements[1]), "\"x\"");
  EXPECT_EQ(text_of(object.members[1].value), "-1.50e3");
  EXPECT_EQ(object.column, 1);
}

TEST(LocatedJsonTest, FindsTheValueOfAKey) {
  const LocatedValue object = ParseValue(R"({"a": 1, "b": 2})");
  ASSERT_NE(object.Find("b"), nullptr);
  EXPECT_EQ(object.Find("b")->text, "2");
  EXPECT_EQ(object.Find("c"), nullptr);
}

TEST(LocatedJsonTest, CountsLinesThatEndInCrLf) {
  const LocatedValue object = ParseValue("{\r\n\"a\": 5\r\n}");
  ASSERT_EQ(object.members.size(), 1U);
  EXPECT_EQ(object.members[0].value.line, 2);
}

TEST(LocatedJsonTest, ReadsATextThatBeginsWithAByteOrderMark) {
  EXPECT_EQ(ParseValue("\xEF\xBB\xBF{}").kind, JsonKind::kObject);
}

TEST(LocatedJsonTest, ReadsNestingUpToTheLimit) {
  EXPECT_EQ(ParseValue(Nested(kMaxJsonDepth)).kind, JsonKind::kArray);
}

TEST(LocatedJsonTest, RefusesDeeperNesting) {
  EXPECT_EQ(ParsingErrorOf(Nested(kMaxJsonDepth + 1)),
            "a.json:1:65: nested deeper than 64 levels; a budget needs at most 6");
  EXPECT_THAT(ParsingErrorOf(Nested(1'000'000)), HasSubstr("nested deeper"));
}

TEST(LocatedJsonTest, NamesBothLinesOfADuplicateKey) {
  EXPECT_EQ(ParsingErrorOf("{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3\n}"),
            "a.json:4:1: \"a\" is set twice, here and on line 2; keep one of the two");
}

TEST(LocatedJsonTest, AllowsTheSameKeyInDifferentObjects) {
  EXPECT_EQ(ParseValue(R"({"a": {"a": {"a": 1}}})").kind, JsonKind::kObject);
}

TEST(LocatedJsonTest, FindsADuplicateKeyThatIsSpeltWithAnEscape) {
  EXPECT_EQ(ParsingErrorOf(R"({"a": 1, "\u0061": 2})"),
            "a.json:1:10: \"a\" is set twice, here and on line 1; keep one of the two");
}

struct SyntaxCase {
  const char* name;
  std::string text;
  const char* message;
};

class SyntaxErrorTest : public testing::TestWithParam<SyntaxCase> {};

TEST_P(SyntaxErrorTest, SaysWhereAndWhatAndTheRemedy) {
  EXPECT_EQ(ParsingErrorOf(GetParam().text), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    BadJson, SyntaxErrorTest,
    testing::Values(
        SyntaxCase{"EmptyFile", "",
                   "a.json:1:1: the file is empty; write at least {\"component\": \"NAME\"}"},
        SyntaxCase{"BlankFile", " \r\n\n",
                   "a.json:1:1: the file is empty; write at least {\"component\": \"NAME\"}"},
        SyntaxCase{"EndsInAnObject", "{\n\"a\": 1\n",
                   "a.json:2:7: not valid JSON: the text ends inside an object or array; close it"},
        SyntaxCase{"EndsBeforeAValue", "{\n\"a\":",
                   "a.json:2:4: not valid JSON: the text ends inside an object or array; close it"},
        SyntaxCase{"EndsInAString", "{\n\"a",
                   "a.json:2:1: not valid JSON: the text ends inside a string; close it with '\"'"},
        SyntaxCase{"LineBreakInAString", "{\n\"a: 1,\n\"b\": 2}",
                   "a.json:2:1: not valid JSON: a line break or control character in a string; "
                   "close it with '\"' or write \\n"},
        SyntaxCase{"TrailingCommaInAnObject", "{\n\"a\": 1,\n}",
                   "a.json:3:1: not valid JSON: a comma before '}'; remove it"},
        SyntaxCase{"TrailingCommaInAnArray", "[\n1,\n\n]",
                   "a.json:4:1: not valid JSON: a comma before ']'; remove it"},
        SyntaxCase{"LoneComma", "{,}",
                   "a.json:1:2: not valid JSON: a key must be a string; put it in double quotes"},
        SyntaxCase{
            "MissingCommaInAnObject", "{\n\"a\": 1\n\"b\": 2}",
            "a.json:3:1: not valid JSON: neither ',' nor '}' after a value; add the one that "
            "is missing"},
        SyntaxCase{
            "MissingCommaInAnArray", "[1\n2]",
            "a.json:2:1: not valid JSON: neither ',' nor ']' after a value; add the one that "
            "is missing"},
        SyntaxCase{"MissingColon", "{\"a\" 1}",
                   "a.json:1:6: not valid JSON: no ':' after a key; write \"key\": value"},
        SyntaxCase{"MissingValue", "{\"a\": }",
                   "a.json:1:7: not valid JSON: unexpected '}'; expected '[', '{', or a literal; "
                   "correct it"},
        SyntaxCase{"KeyWithoutQuotes", "{\na: 1}",
                   "a.json:2:1: not valid JSON: a key must be a string; put it in double quotes"},
        SyntaxCase{"ValueWithoutQuotes", "{\n\"a\": net}",
                   "a.json:2:6: not valid JSON: a word that is no value; put it in double quotes"},
        SyntaxCase{"Comment", "{\n// why\n\"a\": 1}",
                   "a.json:2:1: not valid JSON: JSON has no comments; remove it"},
        SyntaxCase{"CommentAtTheTop", "/* why */ {}",
                   "a.json:1:1: not valid JSON: JSON has no comments; remove it"},
        SyntaxCase{"CommentAtTheEnd", "{}\n// why",
                   "a.json:2:1: not valid JSON: JSON has no comments; remove it"},
        SyntaxCase{"CommentBehindAComma", "{\"a\": 1, // why\n\"b\": 2}",
                   "a.json:1:10: not valid JSON: JSON has no comments; remove it"},
        SyntaxCase{"TextAfterTheEnd", "{}\n{}",
                   "a.json:2:1: not valid JSON: text after the end of the budget; remove it"},
        SyntaxCase{"BracketTooMany", "{}}",
                   "a.json:1:3: not valid JSON: text after the end of the budget; remove it"},
        SyntaxCase{"GarbageAfterTheEnd", "{}\nx",
                   "a.json:2:1: not valid JSON: text after the end of the budget; remove it"},
        SyntaxCase{"InvalidUtf8InAString", "{\n\"a\": \"\xff\"}",
                   "a.json:2:6: not valid JSON: a string is not UTF-8; save the file as UTF-8"},
        SyntaxCase{"InvalidUtf8OutsideAString", "{\n\xff}",
                   "a.json:2:1: not valid JSON: a key must be a string; put it in double quotes"},
        SyntaxCase{"UnknownEscape", R"({"a": "\q"})",
                   "a.json:1:7: not valid JSON: invalid string: forbidden character after "
                   "backslash; correct it"},
        SyntaxCase{"HugeNumber", "{\n\"a\": 1e999}",
                   "a.json:2:6: not valid JSON: a number is too large; write a smaller one"},
        SyntaxCase{
            "LeadingZero", "[01]",
            "a.json:1:4: not valid JSON: neither ',' nor ']' after a value; add the one that "
            "is missing"},
        SyntaxCase{"NulByte", std::string("{}\n\0{", 5),
                   "a.json:2:1: not valid JSON: a NUL byte; save the file as UTF-8 text"}),
    [](const auto& test) { return std::string(test.param.name); });

std::string Elements(std::string_view element, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(element);
  return '[' + text + ']';
}

std::string ObjectOf(std::size_t keys) {
  std::string text = "{\"\": 0";
  for (std::size_t i = 1; i < keys; ++i) text += fmt::format(",\"{}\": 0", i);
  return text + '}';
}

TEST(LocatedJsonTest, RefusesMoreThanAnyBudgetHas) {
  EXPECT_EQ(ParsingErrorOf(ObjectOf(kMaxJsonKeys)), "no error");
  EXPECT_THAT(ParsingErrorOf(ObjectOf(kMaxJsonKeys + 1)),
              HasSubstr(": more than 256 keys in one object; remove those that no budget has"));
  EXPECT_EQ(ParsingErrorOf(Elements("0", kMaxJsonElements)), "no error");
  EXPECT_THAT(ParsingErrorOf(Elements("0", kMaxJsonElements + 1)),
              HasSubstr(": more than 10000 elements in one list; write fewer, with patterns"));
  EXPECT_EQ(ParsingErrorOf(Elements(Elements("0", 9'999), 100)), "no error");
  EXPECT_THAT(ParsingErrorOf(Elements(Elements("[]", 9'999), 101)),
              HasSubstr(": more than 1000000 values; split the budget into several files"));
}

TEST(LocatedJsonTest, RefusesATextThatIsLongerThanAnyBudgetHas) {
  const std::string longest(kMaxJsonTextBytes, 'a');
  EXPECT_EQ(ParsingErrorOf('"' + longest + '"'), "no error");
  for (const std::string& text : {'"' + longest + "a\"", "{\"" + longest + "a\": 0}",
                                  "0." + std::string(kMaxJsonTextBytes, '1')}) {
    EXPECT_THAT(ParsingErrorOf(text),
                HasSubstr(": a text of more than 64 KiB; write several in its place"));
  }
}

TEST(LocatedJsonTest, CostsAsMuchForEachByteHoweverManyThereAre) {
  const auto objects = [](std::size_t n) { return Elements(ObjectOf(200), n / 200); };
  const auto lines = [](std::size_t n) { return Elements("\n{}\n", n / 4); };
  const auto nested = [](std::size_t n) { return Elements(Nested(60), n / 60); };
  const auto escapes = [](std::size_t n) { return Elements("\"\\u00e9\\n\"", n / 4); };
  for (const std::function<std::string(std::size_t)>& shape :
       {std::function<std::string(std::size_t)>(objects),
        std::function<std::string(std::size_t)>(lines),
        std::function<std::string(std::size_t)>(nested),
        std::function<std::string(std::size_t)>(escapes)}) {
    const double growth =
        test::GrowthOfCost(8'000, shape, [](const std::string& text) { (void)ParseValue(text); });
    EXPECT_LT(growth, test::kMostGrowth) << shape(200);
  }
}

}  // namespace
}  // namespace leakgate
