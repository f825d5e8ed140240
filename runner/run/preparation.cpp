#include "runner/run/preparation.h"

#include <fmt/format.h>

#include "runner/attach/program_environment.h"
#include "runner/budget/read_budget.h"
#include "runner/process/process_image.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/test_listing.h"

namespace leakgate {

TestFramework FrameworkOf(const std::filesystem::path& program) {
  const Expected<ImageInspection> image = InspectImage(program);
  return image ? image->framework : TestFramework::kNone;
}

BoundarySource BoundariesOf(TestFramework framework) {
  return framework == TestFramework::kGoogleTestListener ? BoundarySource::kListener
                                                         : BoundarySource::kStream;
}

std::string StreamProblemOf(int pid) {
  const Expected<ImageInspection> image = InspectImage(fmt::format("/proc/{}/exe", pid));
  return image && image->stream_problem ? *image->stream_problem : "";
}

Expected<void> RequireAgent(const std::filesystem::path& agent) {
  std::error_code error;
  if (std::filesystem::exists(agent, error)) return {};
  return InconclusiveError(fmt::format(
      "{}: the agent is missing, so nothing can be traced; reinstall leakgate, or build "
      "the target leakgate_agent",
      agent.string()));
}

Expected<void> RequireFreeStream(const std::vector<std::string>& arguments,
                                 TestFramework framework) {
  if (framework == TestFramework::kGoogleTestListener) return {};
  if (!SendsStream(arguments, OwnEnvironment())) return {};
  return UsageError(
      "GoogleTest's stream of results (--gtest_stream_result_to, GTEST_STREAM_RESULT_TO) is how "
      "leakgate learns where tests begin; leave it out, or link leakgate::listener");
}

Expected<Preparation> Prepare(const RunRequest& request) {
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(request.program));
  LEAKGATE_TRY(RequireAgent(request.agent));
  const TestFramework framework = FrameworkOf(program);
  LEAKGATE_TRY(RequireFreeStream(request.arguments, framework));

  Expected<std::vector<BudgetFile>> files = std::vector<BudgetFile>();
  if (!request.budgets.empty()) files = LoadBudgetFiles(request.budgets);
  if (!files) return Unexpected(files.error());
  TestSources sources;
  if (!files->empty() && framework != TestFramework::kNone) {
    sources = ListTests(program, request.arguments);
  }
  BudgetSet budgets(*std::move(files), program);
  std::vector<TestId> tests;
  for (const auto& [name, source] : sources) tests.push_back({name, source.file});
  LEAKGATE_TRY(budgets.Check(tests));
  return Preparation{program, framework, std::move(sources), std::move(budgets)};
}

}  // namespace leakgate
