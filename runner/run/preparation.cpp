#include "runner/run/preparation.h"

#include <fmt/format.h>

#include "runner/attach/program_environment.h"
#include "runner/base/path_text.h"
#include "runner/budget/read_budget.h"
#include "runner/process/process_image.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/named_allocators.h"
#include "runner/run/test_listing.h"
#include "runner/run/told_quantities.h"

namespace leakgate {

LinkedFramework FrameworkOf(const std::filesystem::path& program) {
  const Expected<ImageInspection> image = InspectImage(program);
  return image ? image->linked : LinkedFramework();
}

BoundarySource BoundariesOf(LinkedFramework linked) {
  return linked.has_listener ? BoundarySource::kListener : BoundarySource::kStream;
}

std::string AdviceAboutTests(LinkedFramework linked) {
  if (linked.framework == TestFramework::kGoogleTest) {
    return "the program has GoogleTest, whose tests leakgate tells apart on Windows only by its "
           "listener, so the program is judged as a whole; link leakgate::listener, or run each "
           "test in a process of its own (leakgate_discover_tests)";
  }
  return fmt::format(
      "the program has {0}, whose tests leakgate tells apart only by a header, so the program is "
      "judged as a whole; add #include <{1}> to one of its source files, below {0}'s own header",
      NameOf(linked.framework), HeaderFor(linked.framework));
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
      PathText(agent)));
}

Expected<void> RequireFreeStream(const std::vector<std::string>& arguments,
                                 LinkedFramework linked) {
  if (linked.has_listener || !linked.TellsTests()) return {};
  if (!SendsStream(arguments, OwnEnvironment())) return {};
  return UsageError(
      "GoogleTest's stream of results (--gtest_stream_result_to, GTEST_STREAM_RESULT_TO) is how "
      "leakgate learns where tests begin; leave it out, or link leakgate::listener");
}

Expected<Preparation> Prepare(const RunRequest& request) {
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(request.program));
  const LinkedFramework linked = FrameworkOf(program);
  if (request.engine == HeapEngine::kAgent) {
    LEAKGATE_TRY(RequireAgent(request.agent));
    LEAKGATE_TRY(RequireFreeStream(request.arguments, linked));
  }

  Expected<std::vector<BudgetFile>> files = std::vector<BudgetFile>();
  if (!request.budgets.empty()) files = LoadBudgetFiles(request.budgets);
  if (!files) return Unexpected(files.error());
  LEAKGATE_TRY(RefuseUntold(*files, request.engine));
  TestSources sources;
  if (!files->empty() && linked.framework == TestFramework::kGoogleTest) {
    sources = ListTests(program, request.arguments);
  }
  BudgetSet budgets(*std::move(files), program);
  std::vector<TestId> tests;
  for (const auto& [name, source] : sources) tests.push_back({name, source.file});
  LEAKGATE_TRY(budgets.Check(tests));
  LEAKGATE_TRY(RequireNamedAllocators(program, budgets.Files()));
  return Preparation{program, linked, std::move(sources), std::move(budgets)};
}

}  // namespace leakgate
