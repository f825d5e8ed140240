#include "runner/run/judged_process.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runner/base/path_text.h"
#include "runner/base/time_limit.h"
#include "runner/report/failure_text.h"
#include "runner/run/free_memory.h"
#include "runner/run/named_allocators.h"
#include "runner/run/preparation.h"

namespace leakgate {
namespace {

std::uint32_t CopyText(std::string_view text, char* to, std::uint32_t capacity) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), capacity));
  std::memcpy(to, text.data(), length);
  return length;
}

// Writes the failure's text for GoogleTest to print, with paths as short as possible.
// REQUIRES: AnswerWithinBudget was called for this question.
void WriteVerdict(const WindowResult& result, ReportedCauses& reported, Mailbox& mailbox) {
  if (result.verdict != Verdict::kOverBudget) return;
  mailbox.over_budget = 1;

  std::error_code error;
  const TextStyle style{.base_directory = PathText(std::filesystem::current_path(error))};
  const std::string first = reported.FindOrAdd(result);
  const std::string text = CutInTheMiddle(
      first.empty() ? FailureText(result, style) : SameFailureText(result, first, style),
      Mailbox::kTextCapacity);
  mailbox.text_length = CopyText(text, mailbox.text, Mailbox::kTextCapacity);
  const std::optional<SourcePosition> position = FailurePosition(result);
  if (!position) return;
  mailbox.file_length = CopyText(position->file, mailbox.file, Mailbox::kFileCapacity);
  mailbox.line = static_cast<std::uint32_t>(position->line);
}

// To judge a window, all that is live is looked at. At most the program, a suite and a test are
// open, unless something other than the agent has written to the region.
constexpr int kMostJudgedAtEnd = 64;
// So many windows of a region that was written over are told, besides those that were judged.
constexpr int kMostOfDamaged = 1000;

// Whether the test is over nothing but limits on what it does, and is to be repeated to tell what
// of that is its own.
bool MayStillPass(const WindowResult& result) {
  return result.kind == WindowKind::kTest && result.made_by.empty() &&
         CountNewFreeErrors(result) == 0 && !result.violations.empty() &&
         std::all_of(result.violations.begin(), result.violations.end(), IsOfActivity);
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

JudgedProcess::JudgedProcess(std::unique_ptr<RegionFile> region, const ImageJudging& judging)
    : image_({.region = std::move(region),
              .symbolizer = judging.surroundings.symbolizer,
              .profiler = judging.answer_more,
              .answer = [this](Mailbox& mailbox) { Answer(mailbox); }}),
      judge_(image_.region(), image_.pid(), judging.surroundings, judging.child),
      judging_(judging.mutex),
      mode_(judging.surroundings.mode),
      observers_(judging.observers) {
  for (const auto& observer : observers_) observer->BeginImage(image_.region_file());
  image_.region_file().Ask(Questions());
}

std::uint32_t JudgedProcess::Questions() const {
  std::uint32_t questions = judge_.Questions();
  for (const auto& observer : observers_) {
    questions |= kAskAtTestBegin;
    if (observer->WantsEveryEnd()) questions |= kAskAtTestEnd;
  }
  return questions;
}

void JudgedProcess::LetGo() {
  image_.region_file().StopAsking();
  is_let_go_.store(true, std::memory_order_relaxed);
}

// The process waits for an answer, even if the runner has no memory or thread for it.
void JudgedProcess::Answer(Mailbox& mailbox) {
  if (is_let_go_.load(std::memory_order_relaxed)) return AnswerWithinBudget(mailbox);
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
  try {
    AnswerQuestion(mailbox);
  } catch (const TimeIsUp&) {
    AnswerWithinBudget(mailbox);
    out_of_time_.insert(mailbox.window);
  } catch (const std::exception& error) {
    AnswerWithinBudget(mailbox);
    failure_ = error.what();
  }
}

void JudgedProcess::EndProcess(int thread) {
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
  try {
    judge_.EndProcess(thread, ProcessEndMoment::kBeforeDestructors, results_);
  } catch (const TimeIsUp&) {  // what is lost stays unknown
  }
}

void JudgedProcess::AnswerQuestion(Mailbox& mailbox) {
  if (image_.AnswerCommon(mailbox)) return;
  switch (static_cast<Question>(mailbox.question)) {
    case Question::kTestBegins:
      for (const auto& observer : observers_) observer->Begin(region(), mailbox.window);
      return judge_.NoteTestBegin(mailbox.window);
    case Question::kIterationEnds:
      has_ended_iteration_ = true;
      judge_.EndIteration(mailbox.tid, results_);
      return CountOverBudget();
    case Question::kProcessEnds:
      judge_.EndProcess(mailbox.tid, ProcessEndMoment::kBeforeDestructors, results_);
      return CountOverBudget();
    case Question::kDestructorsHaveRun:
      judge_.EndProcess(mailbox.tid, ProcessEndMoment::kAfterDestructors, results_);
      return CountOverBudget();
    case Question::kJudge:
    case Question::kMeasure:
    case Question::kMeasureAtEnd:
    case Question::kTakeSnapshot:
    case Question::kReadSnapshot:
    case Question::kOperatorsProbed:
      break;
  }
  JudgeWindow(mailbox);
}

void JudgedProcess::JudgeWindow(Mailbox& mailbox) {
  const WindowCopy window = region().Window(mailbox.window);
  WindowResult result = judge_.Judge(
      window, {.asking_tid = mailbox.tid, .has_new_descriptors = mailbox.subject != 0});
  result.measuring_windows = image_.meter().ResultsOf(window.id);
  const bool is_told = mode_ != GateMode::kWarnOnly && !MayStillPass(result);
  if (is_told) WriteVerdict(result, reported_, mailbox);
  result.was_failed_inside = mailbox.over_budget != 0;
  if (result.was_failed_inside) result.failed_inside_for = result.violations;
  for (const auto& observer : observers_) observer->End(region(), window.id, result);
  if (window.kind == WindowKind::kTest && result.verdict == Verdict::kOverBudget) {
    over_budget_.fetch_add(1, std::memory_order_relaxed);
  }
  if (window.kind == WindowKind::kSuite) {
    judge_.EndSuite(window.id, results_);
    CountOverBudget();
  }
  if (window.id != 0) results_.Put(window.id, std::move(result));
}

// Counts anew, because windows may have been judged again.
void JudgedProcess::CountOverBudget() {
  std::int64_t count = 0;
  results_.ForEach([&](std::uint32_t, const WindowResult& it) {
    if (it.kind == WindowKind::kTest && it.verdict == Verdict::kOverBudget) ++count;
  });
  over_budget_.store(count, std::memory_order_relaxed);
}

// What takes too long is told without a verdict, so that the others have theirs.
WindowResult JudgedProcess::ResultInTime(const WindowCopy& window) {
  try {
    if (!out_of_time_.contains(window.id)) return ResultOf(window);
  } catch (const TimeIsUp&) {
  }
  return judge_.MakeInconclusive(window, "the run's timeout was reached before it was judged");
}

WindowResult JudgedProcess::ResultOf(const WindowCopy& window) {
  const bool is_unjudged = window.state != WindowState::kClosed ||
                           window.kind == WindowKind::kProgram || window.id == unanswered_window_;
  if (!is_unjudged) return judge_.JudgeWithoutBlocks(window);
  if (++judged_at_end_ <= kMostJudgedAtEnd) return judge_.Judge(window, {});
  return judge_.MakeInconclusive(
      window, "too many tests and suites were open at the program's end to judge each");
}

// A window is closed before its question is seen. If the process was killed in between, the window
// has not been judged.
void JudgedProcess::NoteUnanswered() {
  const Mailbox& mailbox = image_.region_file().mailbox();
  const bool is_answered = mailbox.request.load(std::memory_order_acquire) ==
                           mailbox.reply.load(std::memory_order_relaxed);
  if (!is_answered) unanswered_window_ = mailbox.window;
}

std::vector<WindowResult> JudgedProcess::Finish() {
  image_.StopAnswering();
  NoteUnanswered();
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
  for (const auto& observer : observers_) observer->EndImage();
  try {
    judge_.EndProgram(results_);
    image_.meter().EndAll();
  } catch (const TimeIsUp&) {  // each window that is not judged says so
  }
  GiveBackFreeMemory();  // the judge's looks at the heap had it: all windows get a result now
  std::vector<std::uint32_t> told;
  const std::uint32_t count = region().WindowCount();
  const bool is_whole = region().IsWhole();
  int left = kMostOfDamaged;
  constexpr std::uint32_t kReadAtOnce = 8192;
  for (std::uint32_t id = 1; id < count; ++id) {
    if (id % kReadAtOnce == 0) region().ReleasePages();  // results take their place
    if (!is_whole && !results_.contains(id) && --left < 0) continue;
    const WindowCopy window = region().Window(id);
    if (window.id == 0 || window.state == WindowState::kUnused) continue;
    if (!results_.contains(id)) {
      results_.Put(id,
                   is_whole ? ResultInTime(window) : judge_.MakeInconclusive(window, DamageText()));
    }
    results_.Find(id)->measuring_windows = image_.meter().ResultsOf(id);
    told.push_back(id);
  }
  return std::move(results_).Take(told);
}

int Generations::RegionFor(int pid) {
  // Acquire pairs with the release of the main thread, which has launched it.
  if (pid != enabled_pid_.load(std::memory_order_acquire)) return -1;
  const Expected<int> fd = StartNext(pid);
  if (fd) return *fd;
  errors_.push_back(fd.error().message);
  return -1;
}

EventRequest Generations::EventsAsked() const {
  for (const auto& observer : extensions_.observers) {
    const EventRequest events = observer->Events();
    if (events.buffer_bytes != 0) return events;
  }
  return {};
}

Expected<std::unique_ptr<JudgedProcess>> Generations::Trace(RegionOwner owner,
                                                            const ChildProcess* child) {
  owner.stack_depth = stack_depth_;
  owner.counts_temporary = surroundings_.budgets.LimitsTemporary();
  LEAKGATE_TRY_ASSIGN(owner.named,
                      FindNamedAllocators(ProgramFileOf(owner.pid), surroundings_.budgets.Files()));
  LEAKGATE_TRY_ASSIGN(auto region, RegionFile::Create(owner));
  ImageJudging judging{.surroundings = surroundings_,
                       .mutex = judging_,
                       .answer_more = extensions_.answer_more,
                       .child = child};
  if (child == nullptr) judging.observers = extensions_.observers;
  return std::make_unique<JudgedProcess>(std::move(region), judging);
}

Expected<int> Generations::StartNext(int pid) {
  const auto generation = static_cast<std::uint32_t>(processes_.size()) + 1;
  // The program was looked at before it began. What it executes was not.
  const std::string problem =
      boundaries_ == BoundarySource::kStream ? StreamProblemOf(pid) : std::string();
  if (!problem.empty()) errors_.push_back("no tests are told apart: " + problem);
  LEAKGATE_TRY_ASSIGN(
      auto process, Trace({.pid = pid,
                           .generation = generation,
                           .boundaries = problem.empty() ? boundaries_ : BoundarySource::kListener,
                           .events = EventsAsked()},
                          nullptr));
  processes_.push_back(std::move(process));
  latest_.store(processes_.back().get(), std::memory_order_release);  // acquired by latest()
  return processes_.back()->region_fd();
}

std::string Generations::image() const {
  return processes_.empty() ? "" : processes_.back()->path();
}

WindowCopy Generations::Window(std::uint32_t id) const {
  return processes_.empty() ? WindowCopy{} : processes_.back()->region().Window(id);
}

std::uint32_t Generations::WindowCount() const {
  return processes_.empty() ? 0 : processes_.back()->region().WindowCount();
}

WindowCopy Generations::CurrentWindow() const {
  return processes_.empty() ? WindowCopy{} : Window(processes_.back()->region().CurrentWindow());
}

std::string RunningTest(const Generations& generations) {
  if (generations.processes().empty()) return "";
  const RegionReader& region = generations.processes().back()->region();
  for (std::uint32_t id = region.WindowCount(); id-- > 1;) {
    const WindowCopy window = region.Window(id);
    if (window.kind == WindowKind::kTest && window.state == WindowState::kOpen) return window.name;
  }
  return "";
}

}  // namespace leakgate
