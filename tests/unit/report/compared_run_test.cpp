#include "runner/report/compared_run.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

TEST(ComparedRunTest, KeepsVerdictsAndAmountsWithoutStacks) {
  const Json amount = {{"bytes", 64}, {"blocks", 1}};
  const Json window = {{"kind", "test"},
                       {"name", "A.B"},
                       {"iteration", 1},
                       {"verdict", "pass"},
                       {"component", "net"},
                       {"outstanding", amount},
                       {"source_file", "a.cc"},
                       {"peak_live_bytes", 4096},
                       {"findings", {{{"bytes", 64}, {"stack", {{{"function", "f()"}}}}}}}};

  EXPECT_EQ(ComparedRun({{"schema", "leakgate-report-2"},
                         {"binary", "build/t"},
                         {"tracing", {{"generations", 1}}},
                         {"windows", {window}}}),
            Json({{"binary", "build/t"},
                  {"windows",
                   {{{"kind", "test"},
                     {"name", "A.B"},
                     {"iteration", 1},
                     {"verdict", "pass"},
                     {"component", "net"},
                     {"outstanding", amount}}}}}));
}

TEST(ComparedRunTest, IsWhatItWasWhenComparedAgain) {
  const Json run = ComparedRun({{"binary", "t"}, {"windows", {{{"name", "A.B"}, {"lost", 3}}}}});

  EXPECT_EQ(ComparedRun(run), run);
}

TEST(ComparedRunTest, TakesWhatIsNoRunForAnEmptyOne) {
  EXPECT_EQ(ComparedRun(Json("no run")), Json::object());
  EXPECT_EQ(ComparedRun({{"windows", 3}}), Json::object());
  EXPECT_EQ(ComparedRun({{"windows", {3}}}), Json({{"windows", {Json::object()}}}));
}

}  // namespace
}  // namespace leakgate
