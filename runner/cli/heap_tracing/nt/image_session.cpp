#include "runner/cli/heap_tracing/image_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "runner/cli/heap_tracing/nt/wpr.h"
#include "runner/cli/terminal.h"
#include "runner/heap_tracing/nt/image_sessions.h"

namespace leakgate {
namespace {

constexpr int kExitLeft = static_cast<int>(ExitCode::kInconclusive);

void PrintProblems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) PrintMessage(problem);
}

std::string StartedText(const ImageSessionStartCommand& command) {
  std::vector<std::string> names;
  for (const FlaggedImage& image : command.images) names.push_back(TextOf(image));
  const bool is_recorded = command.recorder == Recorder::kWpr;
  return fmt::format(
      "leakgate: Windows traces the heaps of {1} that starts from now on\n{2}"
      "  end the session:   leakgate session stop {0}{3}\n",
      command.name, Printable(fmt::format("{}", fmt::join(names, ", "))),
      is_recorded ? "" : "  have it recorded:  wpr -start Heap -filemode\n",
      is_recorded ? " --etl FILE" : "");
}

// Leaves the journal to others: wpr may take minutes meanwhile.
Expected<FlagHolder> HolderOf(const std::string& session) {
  LEAKGATE_TRY_ASSIGN(const LockedJournal journal, LockedJournal::Open());
  return FindImageSession(journal, session);
}

// What wpr does where a session ends: keeps the recording, or gives up the one that the session has
// begun.
Expected<void> EndRecording(const ImageSessionStopCommand& command, const Expected<Wpr>& wpr,
                            const FlagHolder& session) {
  Expected<void> ended;
  if (!command.etl.empty()) {
    if (wpr) ended = wpr->StopInto(command.etl);
    if (ended) return ended;
    Error error = ended.error();
    error.message += fmt::format(". The session '{}' goes on", command.name);
    return Unexpected(std::move(error));
  }
  if (session.recorder == Recorder::kWpr && wpr) ended = wpr->Run({"-cancel"});
  if (!ended) PrintMessage(ended.error().message);  // it has ended already, most likely
  return {};
}

}  // namespace

Expected<int> Execute(const ImageSessionStartCommand& command) {
  std::optional<Wpr> wpr;
  if (command.recorder == Recorder::kWpr) {
    LEAKGATE_TRY_ASSIGN(wpr, Wpr::Find());
  }
  {  // wpr may take long, and so has no lock
    LEAKGATE_TRY_ASSIGN(LockedJournal journal, LockedJournal::Open());
    PrintProblems(journal.problems());
    LEAKGATE_TRY(StartImageSession(journal, command.name, command.images, command.recorder));
  }
  if (wpr) {
    if (const Expected<void> begun = wpr->Run({"-start", "Heap", "-filemode"}); !begun) {
      LEAKGATE_TRY_ASSIGN(LockedJournal journal, LockedJournal::Open());
      LEAKGATE_TRY_ASSIGN(const bool is_all_back,
                          StopImageSession(journal, command.name, LockedJournal::Foreign::kKept));
      if (!is_all_back) PrintProblems(journal.problems());
      return Unexpected(begun.error());
    }
  }
  Print(stderr, StartedText(command));
  return kExitPass;
}

Expected<int> Execute(const ImageSessionListCommand& command) {
  LEAKGATE_TRY_ASSIGN(const LockedJournal journal, LockedJournal::Open());
  LEAKGATE_TRY_ASSIGN(const FlagSurvey survey, SurveyFlags(journal));
  const std::string others = command.others ? command.others(command.output) : "";
  Print(stdout, command.output == OutputForm::kText ? others + FlagListText(survey)
                : others.empty()                    ? FlagListJson(survey)
                                                    : FlagListJson(survey, others));
  PrintProblems(survey.problems);
  return survey.problems.empty() ? kExitPass : kExitLeft;
}

Expected<int> Execute(const ImageSessionStopCommand& command) {
  const Expected<Wpr> wpr = Wpr::Find();
  if (!command.etl.empty()) {
    if (!wpr) return Unexpected(wpr.error());
    LEAKGATE_TRY(Wpr::CheckPlace(command.etl));
  }
  LEAKGATE_TRY_ASSIGN(const FlagHolder session, HolderOf(command.name));
  LEAKGATE_TRY(EndRecording(command, wpr, session));
  LEAKGATE_TRY_ASSIGN(LockedJournal journal, LockedJournal::Open());
  const auto foreign =
      command.is_forced ? LockedJournal::Foreign::kOverwritten : LockedJournal::Foreign::kKept;
  LEAKGATE_TRY_ASSIGN(const bool is_all_back, StopImageSession(journal, command.name, foreign));
  PrintProblems(journal.problems());
  return is_all_back ? kExitPass : kExitLeft;
}

}  // namespace leakgate
