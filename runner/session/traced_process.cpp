#include "runner/session/traced_process.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runner/report/text_report.h"
#include "runner/session/linux/futex.h"

namespace leakgate {
namespace {

std::uint32_t CopyText(std::string_view text, char* to, std::uint32_t capacity) {
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), capacity));
  std::memcpy(to, text.data(), length);
  return length;
}

// The text that GoogleTest prints, with paths as short as they can be.
void WriteVerdict(const WindowResult& result, Mailbox& mailbox) {
  mailbox.over_budget = result.verdict == Verdict::kOverBudget ? 1 : 0;
  mailbox.text_length = 0;
  mailbox.file_length = 0;
  mailbox.line = 0;
  if (result.verdict != Verdict::kOverBudget) return;

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

Expected<std::unique_ptr<TracedProcess>> TracedProcess::Start(std::unique_ptr<RegionFile> region,
                                                              const JudgeSurroundings& surroundings,
                                                              std::mutex& judging) {
  std::unique_ptr<TracedProcess> process(
      new TracedProcess(std::move(region), surroundings, judging));
  process->thread_ = std::thread([raw = process.get()] { raw->Serve(); });
  return process;
}

TracedProcess::~TracedProcess() { Stop(); }

void TracedProcess::Stop() {
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_release);
  WakeAll(region_->mailbox().request);
  thread_.join();
}

void TracedProcess::Serve() {
  const std::atomic<std::uint32_t>& request = region_->mailbox().request;
  std::uint32_t answered = 0;
  while (!is_stopping_.load(std::memory_order_acquire)) {
    // Acquire pairs with the agent's release once it has written the question.
    const std::uint32_t asked = request.load(std::memory_order_acquire);
    if (asked == answered) {
      WaitWhile(request, answered, std::chrono::milliseconds(100));
      continue;
    }
    Answer(asked);
    answered = asked;
  }
}

void TracedProcess::Answer(std::uint32_t request) {
  Mailbox& mailbox = region_->mailbox();
  {
    const std::lock_guard lock(judging_);
    const Stopwatch stopwatch(judged_);
    const WindowCopy window = region().Window(mailbox.window);
    WindowResult result = judge_.Judge(window);
    WriteVerdict(result, mailbox);
    if (window.id != 0) results_.insert_or_assign(window.id, std::move(result));
  }
  // Release pairs with the agent's acquire.
  mailbox.reply.store(request, std::memory_order_release);
  WakeAll(mailbox.reply);
}

WindowResult TracedProcess::ResultOf(const WindowCopy& window) {
  const auto judged = results_.find(window.id);
  if (judged != results_.end()) return std::move(judged->second);
  if (window.state != WindowState::kClosed || window.kind == WindowKind::kProgram) {
    return judge_.Judge(window);
  }
  return judge_.Pass(window);
}

std::vector<WindowResult> TracedProcess::Finish() {
  Stop();
  const std::lock_guard lock(judging_);
  const Stopwatch stopwatch(judged_);
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
