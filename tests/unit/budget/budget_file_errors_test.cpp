// Every message about a bad budget file, in full. For bad JSON, see located_json_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/budget/read_budget.h"

namespace leakgate {
namespace {

struct ErrorCase {
  const char* name;
  std::string text;
  std::string message;
};

// A file with the component on line 1 and `text` on line 2.
std::string Member(const std::string& text) { return "{\"component\": \"net\",\n" + text + "}"; }

std::string TestLimits(const std::string& limits) {
  return Member("\"limits\": {\"test\": {\"outstanding\": " + limits + "}}");
}

std::string OverrideOf(const std::string& text) { return Member("\"overrides\": [" + text + "]"); }

class BudgetFileErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(BudgetFileErrorTest, NamesTheKeyTheProblemAndTheRemedy) {
  const Expected<BudgetFile> file = ParseBudgetFile("dir/a.json", GetParam().text);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "dir/a.json:" + GetParam().message);
  EXPECT_EQ(file.error().exit_code, ExitCode::kUsage);
}

std::string NameOf(const testing::TestParamInfo<ErrorCase>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Keys, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"BadJson", Member("\"owner\": \"x\","),
                  "2:14: not valid JSON: a comma before '}'; remove it"},
        ErrorCase{
            "MisspeltAtTheTop", Member(R"("test": ["A.*"])"),
            R"(2:1: unknown key "test"; did you mean "tests"? Known: "$schema", "component", )"
            R"("owner", "tests", "binaries", "code", "processes", "wrappers", "allocators", )"
            R"("free_by", "confirm", "contents", "threads", )"
            R"("limits", "overrides" and "allowances")"},
        ErrorCase{"UnknownInAWindow", Member(R"("limits": {"test": {"leaked": {"bytes": 0}}})"),
                  R"(2:21: limits.test: unknown key "leaked"; remove it. Known: "outstanding", )"
                  R"("lost", "retained", "growth", "allocated", "temporary", "peak", "mapped", )"
                  R"("file_descriptors" and "threads")"},
        ErrorCase{"MisspeltInAnAmount", TestLimits(R"({"byte": 0})"),
                  R"(2:37: limits.test.outstanding: unknown key "byte"; did you mean "bytes"? )"
                  R"(Known: "bytes" and "blocks")"},
        ErrorCase{"UnknownWithALineBreak", Member(R"("a\nlong story": 1)"),
                  R"(2:1: unknown key "a\nlong story"; remove it. Known: "$schema", "component", )"
                  R"("owner", "tests", "binaries", "code", "processes", "wrappers", "allocators", )"
                  R"("free_by", "confirm", "contents", "threads", )"
                  R"("limits", "overrides" and "allowances")"},
        ErrorCase{"UnknownInAnOverride", OverrideOf(R"({"because": "x"})"),
                  R"(2:16: overrides[0]: unknown key "because"; remove it. Known: "tests", )"
                  R"("limits", "free_by", "reason", "owner", "issue" and "expires")"},
        ErrorCase{"MissingComponent", "\n{\"owner\": \"x\"}",
                  R"(2:1: component: missing; add "component": "NAME")"},
        ErrorCase{"DuplicateKey", Member("\"component\": \"net\""),
                  R"(2:1: "component" is set twice, here and on line 1; keep one of the two)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Types, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"File", "[1]",
                  R"(1:1: expected an object, found an array; write one such as {"component": )"
                  R"("net", "limits": {"test": {"outstanding": {"bytes": 0}}}})"},
        ErrorCase{"Component", R"({"component": 5})",
                  R"(1:15: component: expected a string, found 5; write one such as "net")"},
        ErrorCase{"Owner", Member(R"("owner": null)"),
                  R"(2:10: owner: expected a string, found null; write one such as "team-net")"},
        ErrorCase{
            "Tests", Member(R"("tests": "HttpTest.*")"),
            R"(2:10: tests: expected an array of strings, found "HttpTest.*"; write one such )"
            R"(as ["HttpTest.*"])"},
        ErrorCase{"OneOfTheTests", Member("\"tests\": [\"A.*\",\n{}]"),
                  R"(3:1: tests[1]: expected a string, found an object; write one such as )"
                  R"("HttpTest.*")"},
        ErrorCase{"Binaries", Member(R"("binaries": true)"),
                  R"(2:13: binaries: expected an array of strings, found true; write one such as )"
                  R"(["net_*"])"},
        ErrorCase{"Processes", Member(R"("processes": [])"),
                  R"(2:14: processes: is empty; write a list such as ["helper*"])"},
        ErrorCase{"ProcessPattern", Member(R"("processes": ["a", " "])"),
                  R"(2:20: processes[1]: is empty; write a string such as "helper*")"},
        ErrorCase{"ProcessPath", Member("\"processes\": [\"a\",\n\"./bin/b*\"]"),
                  R"(3:1: processes[1]: a file name has no '/'; write "b*")"},
        ErrorCase{"ProcessThreads", Member(R"("limits": {"process": {"threads": 1}})"),
                  R"(2:24: limits.process.threads: is measured for tests only; move it to the )"
                  R"(limits of "test")"},
        ErrorCase{"Limits", Member(R"("limits": [])"),
                  R"(2:11: limits: expected an object, found an array; write one such as )"
                  R"({"test": {"outstanding": {"bytes": "64 KiB"}}})"},
        ErrorCase{"Window", Member(R"("limits": {"test": 0})"),
                  R"(2:20: limits.test: expected an object, found 0; write one such as )"
                  R"({"outstanding": {"bytes": "64 KiB"}})"},
        ErrorCase{"Amount", TestLimits("\"64 KiB\""),
                  R"(2:36: limits.test.outstanding: expected an object, found "64 KiB"; write one )"
                  R"(such as {"bytes": "64 KiB", "blocks": 2})"},
        ErrorCase{"Bytes", TestLimits(R"({"bytes": true})"),
                  R"(2:46: limits.test.outstanding.bytes: expected a size, found true; write one )"
                  R"(such as 4096 or "64 KiB")"},
        ErrorCase{
            "Blocks", TestLimits(R"({"blocks": "2"})"),
            R"(2:47: limits.test.outstanding.blocks: expected a number of blocks, found "2"; )"
            R"(write one such as 2)"},
        ErrorCase{
            "Overrides", Member(R"("overrides": {})"),
            R"(2:14: overrides: expected an array of objects, found an object; write one such )"
            R"(as [{"tests": ["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": )"
            R"(64}}}, "reason": "the pool keeps one socket"}])"},
        ErrorCase{"OneOfTheOverrides", OverrideOf("5"),
                  R"(2:15: overrides[0]: expected an object, found 5; write one such as {"tests": )"
                  R"(["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": 64}}}, )"
                  R"("reason": "the pool keeps one socket"})"}),
    NameOf);

std::string AllocatorOf(const std::string& text) {
  return Member("\"allocators\": [" + text + "]");
}

INSTANTIATE_TEST_SUITE_P(
    Allocators, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"NoList", Member(R"("allocators": {})"),
                  R"(2:15: allocators: expected an array of objects, found an object; write one )"
                  R"(such as [{"allocate": "Arena::Alloc", "free": "Arena::Free"}])"},
        ErrorCase{"NothingThatAllocates", AllocatorOf(R"({"free": "f"})"),
                  R"(2:16: allocators[0]: names no function that allocates; write, for example, )"
                  R"({"allocate": "Arena::Alloc", "free": "Arena::Free"})"},
        ErrorCase{"NoArgument", AllocatorOf(R"({"allocate": "a", "size": "argument 9"})"),
                  R"(2:42: allocators[0].size: "argument 9" is no argument; write "argument 1" to )"
                  R"("argument 8", counted as they stand in the parentheses)"},
        ErrorCase{"NumberOfAnArgument", AllocatorOf(R"({"allocate": "a", "size": 1})"),
                  R"(2:42: allocators[0].size: expected a string, found 1; write one such as )"
                  R"("argument 1")"},
        ErrorCase{"Parameters", AllocatorOf("{\"allocate\": \"a(int)\"}"),
                  "2:29: allocators[0].allocate: \"a(int)\" has a '('; write the qualified name "
                  "alone, such as \"Arena::Alloc\""},
        ErrorCase{"FunctionWithoutAName", AllocatorOf(R"({"allocate": {"size": "argument 1"}})"),
                  R"(2:29: allocators[0].allocate.function: missing; add "function": "NAME")"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Numbers, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"NegativeBytes", TestLimits("{\"bytes\":\n-1\n}"),
                  "3:1: limits.test.outstanding.bytes: -1 is negative; write 0 or more"},
        ErrorCase{"NegativeSize", TestLimits(R"({"bytes": "-1 KiB"})"),
                  R"(2:46: limits.test.outstanding.bytes: "-1 KiB" is negative; write 0 or more)"},
        ErrorCase{"NegativeBlocks", TestLimits(R"({"blocks": -3})"),
                  "2:47: limits.test.outstanding.blocks: -3 is negative; write 0 or more"},
        ErrorCase{"FractionOfBytes", TestLimits(R"({"bytes": 1.5})"),
                  "2:46: limits.test.outstanding.bytes: 1.5 is not a whole number; write it in "
                  "digits only"},
        ErrorCase{"FractionOfBlocks", TestLimits(R"({"blocks": 2e0})"),
                  "2:47: limits.test.outstanding.blocks: 2e0 is not a whole number; write it in "
                  "digits only"},
        ErrorCase{"TooManyBytes", TestLimits(R"({"bytes": 9223372036854775808})"),
                  "2:46: limits.test.outstanding.bytes: 9223372036854775808 is too large; write at "
                  "most 9223372036854775807"},
        ErrorCase{"TooManyBlocks", TestLimits(R"({"blocks": 99999999999999999999})"),
                  "2:47: limits.test.outstanding.blocks: 99999999999999999999 is too large; write "
                  "at most 9223372036854775807"},
        ErrorCase{
            "UnknownUnit", TestLimits(R"({"bytes": "64 Kib"})"),
            R"(2:46: limits.test.outstanding.bytes: "64 Kib" has the unknown unit "Kib"; use )"
            R"(B, kB, MB, GB, KiB, MiB or GiB)"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Empty, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"Component", R"({"component": ""})",
                  R"(1:15: component: is empty; write a string such as "net")"},
        ErrorCase{"BlankComponent", R"({"component": " \t"})",
                  R"(1:15: component: is empty; write a string such as "net")"},
        ErrorCase{"Owner", Member(R"("owner": "")"),
                  R"(2:10: owner: is empty; write a string such as "team-net")"},
        ErrorCase{"Tests", Member(R"("tests": [])"),
                  R"(2:10: tests: is empty; write a list such as ["HttpTest.*"])"},
        ErrorCase{"TestPattern", Member(R"("tests": ["A.*", ""])"),
                  R"(2:18: tests[1]: is empty; write a string such as "HttpTest.*")"},
        ErrorCase{"BinaryPattern", Member(R"("binaries": [""])"),
                  R"(2:14: binaries[0]: is empty; write a string such as "net_*")"},
        ErrorCase{"Limits", Member(R"("limits": {})"),
                  R"(2:11: limits: is empty; it needs "test", "suite", "program" or "process")"},
        ErrorCase{"Window", Member(R"("limits": {"suite": {}})"),
                  R"(2:21: limits.suite: is empty; it needs "outstanding", "lost", )"
                  R"("retained", "growth", "allocated", "temporary", "peak", "mapped", )"
                  R"("file_descriptors" or "threads")"},
        ErrorCase{"Amount", TestLimits("{}"),
                  R"(2:36: limits.test.outstanding: is empty; it needs "bytes" or "blocks")"}),
    NameOf);

const std::string kGoodLimits = R"("limits": {"test": {"growth": {"bytes": 1}}})";

INSTANTIATE_TEST_SUITE_P(
    Overrides, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"WithoutTests", OverrideOf("{" + kGoodLimits + R"(, "reason": "x"})"),
                  R"(2:15: overrides[0].tests: missing; add "tests": ["HttpTest.*"])"},
        ErrorCase{"WithoutLimits", OverrideOf(R"({"tests": ["A.*"], "reason": "x"})"),
                  R"(2:15: overrides[0]: changes nothing; add "limits": {"test": )"
                  R"({"outstanding": {"bytes": 64}}} or "free_by": "suite")"},
        ErrorCase{"WithoutAReason", OverrideOf(R"({"tests": ["A.*"], )" + kGoodLimits + "}"),
                  R"(2:15: overrides[0].reason: missing; add "reason": "WHY")"},
        ErrorCase{"WithABlankReason",
                  OverrideOf(R"({"tests": ["A.*"], )" + kGoodLimits + ",\n\"reason\": \" \"}"),
                  R"(3:11: overrides[0].reason: is empty; write a string such as "the pool keeps )"
                  R"(one socket")"},
        ErrorCase{"WithNoTests", OverrideOf(R"({"tests": []})"),
                  R"(2:25: overrides[0].tests: is empty; write a list such as ["HttpTest.*"])"},
        ErrorCase{"WithAnEmptyPattern", OverrideOf(R"({"tests": [""]})"),
                  R"(2:26: overrides[0].tests[0]: is empty; write a string such as "HttpTest.*")"},
        ErrorCase{"WithNoLimits", OverrideOf(R"({"limits": {}})"),
                  R"(2:26: overrides[0].limits: is empty; it needs "test", "suite" or "process")"},
        ErrorCase{"OfTheProgram", OverrideOf("{\"limits\": {\n\"program\": {}}}"),
                  R"(3:1: overrides[0].limits.program: an override limits tests, suites and )"
                  R"(the processes that tests start; move it to the "limits" of the file)"},
        ErrorCase{"TheSecondOfTwo",
                  OverrideOf(R"({"tests": ["A.*"], )" + kGoodLimits + ", \"reason\": \"x\"},\n{}"),
                  R"(3:1: overrides[1].tests: missing; add "tests": ["HttpTest.*"])"}),
    NameOf);

std::string AllowanceOf(const std::string& text) {
  return Member("\"allowances\": [" + text + "]");
}

INSTANTIATE_TEST_SUITE_P(
    Allowances, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"NotAList", Member(R"("allowances": 1)"),
                  R"(2:15: allowances: expected an array of objects, found 1; write one such as )"
                  R"([{"stack": ["net::Pool::Grow"], "blocks": 1, "reason": "the pool keeps one )"
                  R"(socket"}])"},
        ErrorCase{"WithoutAStack", AllowanceOf(R"({"blocks": 1, "reason": "x"})"),
                  R"(2:16: allowances[0].stack: missing; add "stack": ["net::Pool::Grow"])"},
        ErrorCase{"WithAnEmptyStack", AllowanceOf(R"({"stack": [], "reason": "x"})"),
                  R"(2:26: allowances[0].stack: is empty; write a list such as )"
                  R"(["net::Pool::Grow"])"},
        ErrorCase{"WithoutAReason", AllowanceOf(R"({"stack": ["a"]})"),
                  R"(2:16: allowances[0].reason: missing; add "reason": "WHY")"},
        ErrorCase{"WithNegativeBlocks", AllowanceOf(R"({"stack": ["a"], "blocks": -1})"),
                  R"(2:43: allowances[0].blocks: -1 is negative; write 0 or more)"},
        ErrorCase{"Misspelt", AllowanceOf(R"({"stacks": ["a"]})"),
                  R"(2:17: allowances[0]: unknown key "stacks"; did you mean "stack"? Known: )"
                  R"("stack", "tests", "bytes", "blocks", "reason", "owner", "issue" and )"
                  R"("expires")"},
        ErrorCase{"ThatExpiresOnNoDay", AllowanceOf(R"({"expires": "2026-02-29"})"),
                  R"(2:28: allowances[0].expires: "2026-02-29" is no date; write year, month and )"
                  R"(day, such as "2026-12-31")"},
        ErrorCase{"ThatExpiresInAnotherNotation", AllowanceOf(R"({"expires": "31.12.2026"})"),
                  R"(2:28: allowances[0].expires: "31.12.2026" is no date; write year, month and )"
                  R"(day, such as "2026-12-31")"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Words, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"FreeBy", Member(R"("free_by": "end")"),
                  R"(2:12: free_by: unknown word "end"; write "test", "suite" or "program")"},
        ErrorCase{"FreeByOfAnOverride", OverrideOf(R"({"free_by": "end"})"),
                  R"(2:27: overrides[0].free_by: unknown word "end"; write "test", "suite" or )"
                  R"("program")"},
        ErrorCase{"Contents", Member(R"("contents": "no")"),
                  R"(2:13: contents: expected true or false, found "no"; write one such as false)"},
        ErrorCase{"Confirm", Member(R"("confirm": true)"),
                  R"(2:12: confirm: expected a string, found true; write one such as "after", )"
                  R"("inline" or "off")"},
        ErrorCase{"Threads", Member(R"("threads": "all")"),
                  R"(2:12: threads: unknown word "all"; write "process" or "test")"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Code, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"Empty", Member(R"("code": {})"),
                  R"(2:9: code: is empty; it needs "paths", "functions" or "modules")"},
        ErrorCase{"NotAList", Member(R"("code": {"paths": "src"})"),
                  R"(2:19: code.paths: expected an array of strings, found "src"; write one such )"
                  R"(as ["src/net/*"])"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Quantities, BudgetFileErrorTest,
    testing::Values(
        ErrorCase{"BlocksOfThePeak", Member(R"("limits": {"test": {"peak": {"blocks": 1}}})"),
                  R"(2:30: limits.test.peak: unknown key "blocks"; remove it. Known: "bytes")"},
        ErrorCase{"Threads", Member(R"("limits": {"test": {"threads": "1"}})"),
                  R"(2:32: limits.test.threads: expected a number of threads, found "1"; write )"
                  R"(one such as 2)"},
        ErrorCase{"FileDescriptors", Member(R"("limits": {"test": {"file_descriptors": -1}})"),
                  R"(2:41: limits.test.file_descriptors: -1 is negative; write 0 or more)"}),
    NameOf);

TEST(BudgetFileErrorsTest, AreAllListedInTheFilesOrder) {
  const std::string text = R"({ "owner": "",
"tests": ["", 5],
"limits": {"suite": {"threads": 1, "growth": {"blocks": -1}}, "tests": {}},
"overrides": [{"tests": ["A.*"], "reason": 1,
  "limits": {"program": {}, "test": {"peak": {}}}}, {"reason": "x"}],
"processes": ["a/b", "c/d"],
"allowances": [{"stack": []}]
})";
  EXPECT_THAT(
      ListErrors("a.json", text),
      testing::ElementsAre(
          testing::StartsWith("a.json:1:12: owner: is empty"),
          testing::StartsWith("a.json:2:11: tests[0]: is empty"),
          testing::StartsWith("a.json:2:15: tests[1]: expected a string, found 5"),
          testing::StartsWith("a.json:3:22: limits.suite.threads: is measured for tests only"),
          testing::StartsWith("a.json:3:57: limits.suite.growth.blocks: -1 is negative"),
          testing::StartsWith("a.json:3:63: limits: unknown key \"tests\""),
          testing::StartsWith("a.json:4:44: overrides[0].reason: expected a string"),
          testing::StartsWith("a.json:5:14: overrides[0].limits.program: an override limits"),
          testing::StartsWith("a.json:5:46: overrides[0].limits.test.peak: is empty"),
          testing::StartsWith("a.json:5:53: overrides[1].tests: missing"),
          testing::StartsWith("a.json:5:53: overrides[1]: changes nothing"),
          testing::StartsWith("a.json:6:15: processes[0]: a file name has no '/'"),
          testing::StartsWith("a.json:6:22: processes[1]: a file name has no '/'"),
          testing::StartsWith("a.json:7:26: allowances[0].stack: is empty"),
          testing::StartsWith("a.json:7:16: allowances[0].reason: missing"),
          testing::StartsWith("a.json:1:1: component: missing")));
}

TEST(BudgetFileErrorsTest, AreOneOfATextThatIsNotJson) {
  EXPECT_THAT(ListErrors("a.json", "{} {}"), testing::SizeIs(1));
}

}  // namespace
}  // namespace leakgate
