// What is written as JSON is read back as it was; what others wrote is read within bounds. The
// text comes in pieces of all sizes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "runner/report/excess.h"
#include "runner/report/json/json_report.h"
#include "runner/results/result_file.h"
#include "tests/support/processor_time.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

ReadBytes InPieces(std::string text, std::size_t piece) {
  return [text = std::move(text), piece, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t count = std::min({size, piece, text.size() - at});
    std::copy_n(text.data() + at, count, to);
    at += count;
    return count;
  };
}

RunResult Read(const std::string& text, std::size_t piece = 1 << 16) {
  std::vector<RunResult> runs;
  const auto problem = ReadRuns(InPieces(text, piece),
                                [&](RunResult&& run, const JsonSpan&) { runs.push_back(run); });
  EXPECT_FALSE(problem) << problem->text;
  EXPECT_THAT(runs, SizeIs(1));
  return runs.empty() ? RunResult{} : runs.front();
}

JsonProblem ProblemOf(const std::string& text, std::size_t piece = 3) {
  const auto problem = ReadRuns(InPieces(text, piece), [](RunResult&&, const JsonSpan&) {});
  EXPECT_TRUE(problem) << text.substr(0, 200);
  return problem.value_or(JsonProblem{});
}

// A run of nothing, with more in it.
std::string RunWith(const std::string& members) {
  std::string text = ToJson(RunResult{});
  return text.insert(1, members + ',');
}

bool Takes(const std::string& member) {
  return !ReadRuns(InPieces(RunWith("\"more\": " + member), 1 << 16),
                   [](RunResult&&, const JsonSpan&) {});
}

// Each field has a value of its own.
RunResult FullRun() {
  using namespace std::chrono_literals;
  RunResult run = sample::RunOfEverything();
  run.shard = Shard{.index = 2, .total = 5};
  run.baseline = "main.json";
  run.mode = GateMode::kStrict;
  run.program = {.exit_code = {}, .signal = 11};
  run.tracing = {.boundaries = BoundarySource::kStream,
                 .generations = 2,
                 .drops = {{"map_full", 3}},
                 .stack_ends = {{"depth_limit", 4}},
                 .stacks_proved = 5,
                 .stacks_walked = 6,
                 .stacks_unprovable = 7,
                 .frames_walked = 8,
                 .frames_without_rule = 9,
                 .mapped = {12288, 2}};
  run.wall = 10s;
  run.gating = 11ms;
  run.confirming = 12ms;
  WindowResult window = sample::FailingTest();
  window.kind = WindowKind::kProcess;
  window.status = TestStatus::kNone;
  window.started_by = "HttpTest.KeepAlive";
  window.iteration = 3;
  window.reason = "a reason";
  window.known = {48, 2};
  window.known_violations = window.violations;
  window.begin = 1500ms;
  window.end = 1750ms;
  window.live_bytes_at_begin = 100;
  window.live_bytes_at_end = 164;
  window.peak_live_bytes = 200;
  window.file_descriptors = 1;
  window.threads = 2;
  window.left_behind = {"descriptor 7: /tmp/db"};
  window.reach_problem = "it could not be stopped";
  window.measuring_windows = {{"load", "src/config.cc", 12, 3, 1, {64, 4}}, {"", "", 0, 1, 0, {}}};
  window.mappings = window.findings;
  window.mappings[0].kind = AllocationKind::kThreadStack;
  window.mapped = {4096, 1};
  window.reserved_bytes = 8192;
  window.free_errors = {{"freed twice", window.findings[0], {}, BaselineState::kNew}};
  window.findings[0].baseline = BaselineState::kKnown;
  window.findings[0].thread = "worker";
  window.findings[0].component = "net";
  run.windows.push_back(window);
  return run;
}

// Takes away what a report does not tell.
void ForgetWhatIsNotTold(RunResult& run) {
  for (WindowResult& window : run.windows) {
    window.begin -= run.begin;
    window.end -= run.begin;
    window.was_failed_inside = false;
    window.failed_inside_for.clear();
    for (Violation& violation : window.known_violations) violation.amount = {};
    for (Violation& violation : window.violations) {
      if (IsOf(violation, Quantity::kPeak)) violation.amount = {};  // it has no blocks
    }
  }
  run.begin = {};
}

// Lets each window of `read` share the budget of `run`'s, of which a report tells whose it is.
void ShareBudgets(const RunResult& run, RunResult& read) {
  ASSERT_EQ(read.windows.size(), run.windows.size());
  for (std::size_t i = 0; i < run.windows.size(); ++i) {
    EXPECT_EQ(read.windows[i].budget->component, run.windows[i].budget->component);
    EXPECT_EQ(read.windows[i].budget->owner, run.windows[i].budget->owner);
    read.windows[i].budget = run.windows[i].budget;
  }
}

TEST(ReadJsonTest, GivesBackWhatWasWritten) {
  for (RunResult run : {sample::RunOfEverything(), sample::PassingRun(), RunResult{}, FullRun()}) {
    RunResult read = Read(ToJson(run));
    EXPECT_EQ(ToJson(read), ToJson(run));
    ForgetWhatIsNotTold(run);
    EXPECT_EQ(ContentOf(read), ContentOf(run));
    ForgetWhatIsNotTold(read);
    ShareBudgets(run, read);
    EXPECT_TRUE(read == run) << ToJson(run);
  }
}

TEST(ReadJsonTest, GivesBackEveryWord) {
  RunResult run = sample::RunOf({});
  for (int i = 0; i < 11; ++i) {
    WindowResult window = sample::FailingTest();
    window.kind = static_cast<WindowKind>(1 + i % 4);
    window.status =
        window.kind == WindowKind::kTest ? static_cast<TestStatus>(1 + i % 5) : TestStatus::kNone;
    window.verdict = static_cast<Verdict>(i % 5);
    window.findings[0].kind = static_cast<AllocationKind>(1 + i % 10);
    window.findings[0].stack_end = static_cast<UnwindEnd>(i % 7);
    window.findings[0].disposition = static_cast<Disposition>(i);
    window.findings[0].reach = static_cast<Reach>(i % 4);
    window.findings[0].baseline = static_cast<BaselineState>(i % 3);
    run.windows.push_back(window);
    run.verdict = static_cast<Verdict>(i % 3);
    run.mode = static_cast<GateMode>(i % 3);
    run.tracing.boundaries = static_cast<BoundarySource>(i % 3);
    EXPECT_EQ(ToJson(Read(ToJson(run))), ToJson(run)) << i;
  }
}

TEST(ReadJsonTest, KnowsTheWholeAmountOfAViolatedQuantity) {
  RunResult run = sample::RunOf({sample::FailingUncoveredTest()});
  run.windows[0].lost = {};

  const RunResult read = Read(ToJson(run));

  EXPECT_THAT(read.windows[0].violations, SizeIs(2));
  EXPECT_THAT(read.windows[0].violations, Each(Field(&Violation::amount, Amount{128, 2})));
}

TEST(ReadJsonTest, ForgetsAUserFrameOutsideOfTheStack) {
  auto report = nlohmann::ordered_json::parse(ToJson(sample::RunOf({sample::FailingTest()})));
  report["windows"][0]["findings"][0]["user_frame"] = 100;

  EXPECT_EQ(Read(report.dump()).windows[0].findings[0].user_frame, std::nullopt);
}

TEST(ReadJsonTest, NamesTheKeyOfAWrongValueInAWindow) {
  auto report = nlohmann::ordered_json::parse(ToJson(sample::RunOf({sample::FailingTest()})));
  report["windows"][0]["findings"][0]["stack"][0]["line"] = "seven";

  EXPECT_EQ(ProblemOf(report.dump()).text,
            "findings: stack: line: a whole number of 64 bits is expected here; run again what "
            "wrote it");
}

TEST(ReadJsonTest, ReadsTheSameInPiecesOfAnySize) {
  const std::string text = ToJson(sample::RunOfEverything());
  for (const std::size_t piece : {1u, 2u, 3u, 1000u}) EXPECT_EQ(ToJson(Read(text, piece)), text);
}

TEST(ReadJsonTest, SaysWhereARunStands) {
  const std::string text = ToJson(RunResult{});
  std::vector<std::string> found;
  const std::string merged = "{\"runs\": [" + text + ", " + text + "]}";
  EXPECT_FALSE(ReadRuns(InPieces(merged, 7), [&](RunResult&&, const JsonSpan& span) {
    found.push_back(merged.substr(span.offset, span.size) + '\n');
  }));
  EXPECT_THAT(found, testing::ElementsAre(text, text));
}

TEST(ReadJsonTest, SaysOfATextThatEndsTooEarlyThatItWasCutOff) {
  const std::string text = ToJson(sample::PassingRun());
  for (std::size_t size = 0; size < text.size() - 1; ++size) {
    const JsonProblem problem = ProblemOf(text.substr(0, size));
    EXPECT_TRUE(problem.is_cut_off) << size;
    EXPECT_EQ(problem.offset, size);
  }
}

TEST(ReadJsonTest, RefusesWhatIsNoJson) {
  for (const char* const value :
       {"01", "1.", ".5", "1e", "+1", "tru", "nan", "\"\\x\"", "[1,]", "[1 2]", "{\"a\" 1}",
        "{a:1}", "\"\xC3\"", "\"\\ud83d\"", "'a'"}) {
    EXPECT_FALSE(Takes(value)) << value;
  }
  EXPECT_EQ(ProblemOf(RunWith("\"more\": 1e999")).text,
            "a number is too large; run again what wrote it");
}

TEST(ReadJsonTest, RefusesDeepNestingInsteadOfRunningOutOfStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(ProblemOf(RunWith("\"more\": " + deep)).text, HasSubstr("nested deeper than 64"));
  EXPECT_TRUE(Takes(std::string(63, '[') + std::string(63, ']')));
}

std::string Repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::string Keys(std::size_t count) {
  std::string text = "\"\": 0";
  for (std::size_t i = 1; i < count; ++i) text += fmt::format(",\"{}\": 0", i);
  return text;
}

TEST(ReadJsonTest, TakesAnObjectOfAsManyKeysAsAnyReportHasAndNoLarger) {
  constexpr const char* kTooMany = "more than 256 keys in one object; run again what wrote it";
  const std::size_t own = nlohmann::json::parse(ToJson(RunResult{})).size();
  EXPECT_EQ(Read(RunWith(Keys(kMostKeys - own))).binary, "");
  EXPECT_EQ(ProblemOf(RunWith(Keys(kMostKeys - own + 1))).text, kTooMany);
  EXPECT_EQ(ProblemOf(RunWith("\"windows\": [{" + Keys(kMostKeys + 1) + "}]")).text, kTooMany);
}

// `begin`, and `more` of it without an end.
ReadBytes Endless(std::string begin, std::string more, std::size_t& read) {
  return [=, &read](char* to, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, ++read) {
      to[i] = read < begin.size() ? begin[read] : more[(read - begin.size()) % more.size()];
    }
    return size;
  };
}

// What has been read is what may be in memory.
TEST(ReadJsonTest, ReadsNoTokenThatIsLongerThanAnyReportHas) {
  for (const auto& [begin, more] : std::vector<std::pair<std::string, std::string>>{
           {"{\"a\": \"", "a"}, {"{\"a\": \"", "\\n"}, {"{\"a\": 0.", "3"}, {"{\"", "a"}}) {
    std::size_t read = 0;
    const auto problem = ReadRuns(Endless(begin, more, read), [](RunResult&&, const JsonSpan&) {});
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->text, "a text or number of more than 16 MiB; run again what wrote it");
    EXPECT_LT(read, std::size_t{64} << 20) << more;
  }
}

TEST(ReadJsonTest, CostsAsMuchForEachByteHoweverManyThereAre) {
  using Shape = std::function<std::string(std::size_t)>;
  const std::string run = ToJson(RunResult{});
  const std::vector<Shape> shapes = {
      [](std::size_t n) { return RunWith("\"more\": \"" + Repeated("\\u00e9", n) + '"'); },
      [](std::size_t n) { return RunWith("\"more\": 0." + std::string(n * 6, '3')); },
      [](std::size_t n) { return RunWith(std::string(n * 6, ' ') + "\"more\": 0"); },
      [](std::size_t n) { return RunWith("\"reasons\": [\"\"" + Repeated(",\"\"", n * 2) + ']'); },
      [&](std::size_t n) { return "{\"runs\": [" + run + Repeated(',' + run, n / 256) + "]}"; },
      [](std::size_t n) {
        return ToJson(sample::RunOf(std::vector<WindowResult>(n / 256, sample::FailingTest())));
      }};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double growth = test::GrowthOfCost(50'000, shapes[i], [](const std::string& text) {
      (void)ReadRuns(InPieces(text, 1 << 18), [](RunResult&&, const JsonSpan&) {});
    });
    EXPECT_LT(growth, test::kMostGrowth) << "shape " << i;
  }
}

}  // namespace
}  // namespace leakgate
