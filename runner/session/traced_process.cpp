#include "runner/session/traced_process.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runner/report/text_report.h"

namespace leakgate {
namespace {

std::uint32_t CopyText(std::string_view text, char* to, std::uint32_t capacity) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), capacity));
  std::memcpy(to, text.data(), length);
  return length;
}

// The text that GoogleTest prints, with paths as short as they can be.
// REQUIRES: AnswerNothing.
void WriteVerdict(const WindowResult& result, Mailbox& mailbox) {
  if (result.verdict != Verdict::kOverBudget) return;
  mailbox.over_budget = 1;

  std::error_code error;
  const TextStyle style{.base_directory = std::filesystem::current_path(error).string()};
  const std::string text = CutInTheMiddle(FailureText(result, style), Mailbox::kTextCapacity);
  mailbox.text_length = CopyText(text, mailbox.text, Mailbox::kTextCapacity);
  const std::optional<SourcePosition> position = FailurePosition(result);
  if (!position) return;
  mailbox.file_length = CopyText(position->file, mailbox.file, Mailbox::kFileCapacity);
  mailbox.line = static_cast<std::uint32_t>(position->line);
}

class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::steady_clock::now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

TracedProcess::TracedProcess(std::unique_ptr<RegionFile> region,
                             const JudgeSurroundings& surroundings, std::mutex& judging,
                             const ChildProcess* child)
    : region_(std::move(region)),
      judge_(*region_, surroundings, child),
      judging_(judging),
      mode_(surroundings.mode),
      server_(region_->mailbox(), [this](Mailbox& mailbox) { Answer(mailbox); }) {}

void TracedProcess::Answer(Mailbox& mailbox) {
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
  AnswerNothing(mailbox);
  switch (static_cast<Question>(mailbox.question)) {
    case Question::kTestBegins:
      return judge_.NoteBegin(mailbox.window);
    case Question::kIterationEnds:
      return judge_.EndIteration(mailbox.tid, results_);
    case Question::kProcessEnds:
      return judge_.EndProcess(mailbox.tid);
    case Question::kJudge:
      break;
  }
  JudgeWindow(mailbox);
}

void TracedProcess::JudgeWindow(Mailbox& mailbox) {
  const WindowCopy window = region().Window(mailbox.window);
  WindowResult result = judge_.Judge(window, {.asking_tid = mailbox.tid});
  if (mode_ != GateMode::kWarnOnly) WriteVerdict(result, mailbox);
  result.was_failed_inside = mailbox.over_budget != 0;
  if (window.kind == WindowKind::kSuite) judge_.EndSuite(window.id, results_);
  if (window.id != 0) results_.insert_or_assign(window.id, std::move(result));
}

WindowResult TracedProcess::ResultOf(const WindowCopy& window) {
  const auto judged = results_.find(window.id);
  if (judged != results_.end()) return std::move(judged->second);
  if (window.state != WindowState::kClosed || window.kind == WindowKind::kProgram) {
    return judge_.Judge(window, {});
  }
  return judge_.Pass(window);
}

std::vector<WindowResult> TracedProcess::Finish() {
  server_.Stop();
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
  judge_.EndProgram(results_);
  std::vector<WindowResult> windows;
  const std::uint32_t count = region().WindowCount();
  windows.reserve(count);
  for (std::uint32_t id = 1; id < count; ++id) {
    const WindowCopy window = region().Window(id);
    if (window.id == 0 || window.state == WindowState::kUnused) continue;
    windows.push_back(ResultOf(window));
  }
  return windows;
}

}  // namespace leakgate
