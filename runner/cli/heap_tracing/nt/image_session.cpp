#include "runner/cli/heap_tracing/image_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/cli/terminal.h"
#include "runner/heap_tracing/nt/image_sessions.h"

namespace leakgate {
namespace {

void PrintProblems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) PrintMessage(problem);
}

constexpr int kExitLeft = static_cast<int>(ExitCode::kInconclusive);

}  // namespace

Expected<int> Execute(const ImageSessionStartCommand& command) {
  LEAKGATE_TRY_ASSIGN(LockedJournal journal, LockedJournal::Open());
  PrintProblems(journal.problems());
  LEAKGATE_TRY(StartImageSession(journal, command.name, command.images));
  std::vector<std::string> names;
  for (const TracedImage& image : command.images) names.push_back(TextOf(image));
  Print(stderr, fmt::format("leakgate: Windows traces the heaps of {1} that starts from now on\n"
                            "  have it recorded:  wpr -start Heap -filemode\n"
                            "  end the session:   leakgate session stop {0}\n",
                            command.name, Printable(fmt::format("{}", fmt::join(names, ", ")))));
  return kExitPass;
}

Expected<int> Execute(const ImageSessionListCommand& command) {
  LEAKGATE_TRY_ASSIGN(const LockedJournal journal, LockedJournal::Open());
  LEAKGATE_TRY_ASSIGN(const FlagSurvey survey, SurveyFlags(journal));
  Print(stdout, command.output == OutputForm::kJson ? FlagListJson(survey) : FlagListText(survey));
  PrintProblems(survey.problems);
  return survey.problems.empty() ? kExitPass : kExitLeft;
}

Expected<int> Execute(const ImageSessionStopCommand& command) {
  LEAKGATE_TRY_ASSIGN(LockedJournal journal, LockedJournal::Open());
  const auto foreign =
      command.is_forced ? LockedJournal::Foreign::kOverwritten : LockedJournal::Foreign::kKept;
  LEAKGATE_TRY_ASSIGN(const bool is_all_back, StopImageSession(journal, command.name, foreign));
  PrintProblems(journal.problems());
  return is_all_back ? kExitPass : kExitLeft;
}

}  // namespace leakgate
