#include "runner/report/run_report.h"

#include <gtest/gtest.h>

#include "runner/report/json_report.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

TEST(RunReportTest, ReadsTheValuesOnceHoweverManyAsk) {
  const RunReport report(ToRunReport(sample::RunOf({sample::PassingTest("HttpTest.Get")})));

  const RunResult* const first = &report.result();
  const WindowResult* const window = first->windows.data();

  EXPECT_EQ(&report.result(), first);
  EXPECT_EQ(report.result().windows.data(), window);
  EXPECT_EQ(first->windows.at(0).name, "HttpTest.Get");
}

TEST(RunReportTest, ReadsNoValuesForWhoAsksForTheJsonAlone) {
  const RunReport report(Json("no run report"));

  EXPECT_EQ(*report.json(), "no run report");
  EXPECT_THROW((void)report.result(), Json::exception);
}

TEST(RunReportTest, SharesTheJsonWithWhoKeepsIt) {
  std::shared_ptr<const Json> kept;
  {
    const RunReport report(Json{{"binary", "t"}});
    kept = report.json();
    EXPECT_EQ(kept.get(), report.json().get());
  }
  EXPECT_EQ(kept->at("binary"), "t");
}

}  // namespace
}  // namespace leakgate
