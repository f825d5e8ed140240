#include "runner/cli/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string_view>
#include <system_error>

#include "runner/base/descriptors.h"
#include "runner/base/path_text.h"
#include "runner/base/signal_end.h"
#include "runner/base/terminal.h"
#include "runner/run/judged_run.h"

namespace leakgate {
namespace {

// The escape sequences that Paint writes, which only change colours.
constexpr std::array<std::string_view, 6> kColours = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                      "\x1b[32m", "\x1b[33m", "\x1b[1;31m"};

std::string_view ColourAtBeginOf(std::string_view text) {
  const auto found = std::find_if(kColours.begin(), kColours.end(), [&](std::string_view colour) {
    return text.starts_with(colour);
  });
  return found == kColours.end() ? std::string_view() : *found;
}

// Builds the text, and remembers what its line has so far: the meaning of the rest depends on it.
class ConsoleLines {
 public:
  std::string Take() { return std::move(text_); }

  void Add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t done = AddFirst(text);
      text.remove_prefix(done);
    }
  }

 private:
  // Returns the number of bytes that it took.
  std::size_t AddFirst(std::string_view text) {
    if (text.front() == '\n') {
      text_ += '\n';
      is_blank_ = true;
      return 1;
    }
    if (const std::string_view colour = ColourAtBeginOf(text); !colour.empty()) {
      text_ += colour;
      return colour.size();
    }
    if (IsCommand(text)) {
      text_ += text.front() == ':' ? "\\x3a" : "\\x23";
      is_blank_ = false;
      return 1;
    }
    const std::string_view part = text.substr(0, text.find_first_of("\n\x1b:#", 1));
    is_blank_ = is_blank_ && std::none_of(part.begin(), part.end(), IsGraphic);
    text_ += Printable(part);
    return part.size();
  }

  // GitHub obeys commands that follow blanks at the begin of a line. GitHub, Azure and TeamCity
  // obey commands that begin with "##" anywhere.
  bool IsCommand(std::string_view text) const {
    return text.starts_with("##") || (is_blank_ && text.starts_with("::"));
  }

  static bool IsGraphic(char c) { return c > ' ' && c < 0x7f; }

  std::string text_;
  bool is_blank_ = true;  // the line, so far: other blanks than ASCII's count as such
};

// Why standard output could not be written, when that was first seen; 0: it has been written.
int g_output_error = 0;

void NoteOutputError() {
  if (g_output_error == 0) g_output_error = errno != 0 ? errno : EIO;
}

class OutputBuffer : public std::streambuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    PrintVerbatim(stdout, {text, static_cast<std::size_t>(bytes)});
    return g_output_error == 0 ? bytes : 0;
  }
  int_type overflow(int_type next) override {
    const char byte = traits_type::to_char_type(next);
    return xsputn(&byte, 1) == 1 ? next : traits_type::eof();
  }
};

using std::chrono::milliseconds;

constexpr milliseconds kBarPeriod(200);
constexpr milliseconds kLinePeriod(30'000);
// A run that ends sooner needs no bar.
constexpr milliseconds kPatience(1000);

constexpr int kStandardOutput = 1;
constexpr int kStandardError = 2;
// What a shell has for a process that SIGPIPE ended.
constexpr int kEndedByBrokenPipe = 128 + 13;

bool IsProgramsTurn(ProgressStage stage) {
  return stage == ProgressStage::kProgram || stage == ProgressStage::kTests;
}

// $LEAKGATE_PROGRESS_INTERVAL, in seconds.
milliseconds LinePeriod() {
  const char* const text = std::getenv("LEAKGATE_PROGRESS_INTERVAL");
  const std::string_view given = text == nullptr ? "" : text;
  double seconds = 0;
  const auto [rest, error] = std::from_chars(given.data(), given.data() + given.size(), seconds);
  const bool is_number = error == std::errc() && rest == given.data() + given.size();
  if (!is_number || !(seconds >= 0.01) || seconds > 1e6) return kLinePeriod;
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

std::string ConsoleText(std::string_view text) {
  ConsoleLines lines;
  lines.Add(text);
  return lines.Take();
}

std::string ConsoleJson(const nlohmann::ordered_json& json, int indent) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  const std::string text = json.dump(indent, ' ', true, kReplace);
  std::string console;
  for (const char c : text) {
    const bool is_second = c == '#' && console.ends_with('#');
    console += is_second ? "\\u0023" : std::string(1, c);
  }
  return console + '\n';
}

void Print(std::FILE* stream, std::string_view text) { PrintVerbatim(stream, ConsoleText(text)); }

void PrintMessage(std::string_view message) {
  Print(stderr, "leakgate: " + Printable(message) + '\n');
}

void PrintVerbatim(std::FILE* stream, std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stream);
  if (written < text.size() && stream == stdout) NoteOutputError();
}

std::ostream& OutputStream() {
  static OutputBuffer buffer;
  static std::ostream stream(&buffer);
  return stream;
}

bool FlushOutput() {
  if (std::fflush(stdout) != 0) NoteOutputError();
  return g_output_error == 0;
}

int ExitCodeAfterOutput(int exit_code) {
  if (FlushOutput()) return exit_code;
  const bool is_success = exit_code == kExitPass;
  if (g_output_error == EPIPE) return is_success ? kEndedByBrokenPipe : exit_code;
  PrintMessage(fmt::format("cannot write to standard output: {}", ErrnoText(g_output_error)));
  return is_success ? static_cast<int>(ExitCode::kInconclusive) : exit_code;
}

bool IsTerminal(std::FILE* stream) { return IsTerminal(::fileno(stream)); }

ScreenSize ScreenOf(std::FILE* stream) {
  if (!IsCapableTerminal(::fileno(stream))) return {};
  const TerminalSize size = SizeOfTerminal(::fileno(stream));
  if (size.rows < 2 || size.columns < 2) return {};
  return {size.rows - 1, size.columns - 1};  // some terminals wrap in the last column
}

void ClearScreen(std::FILE* stream) {
  std::fputs("\x1b[H\x1b[2J", stream);
  std::fflush(stream);
}

// https://no-color.org: any value but the empty one.
Colour ColourOf(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_forbidden = no_color != nullptr && *no_color != '\0';
  return IsCapableTerminal(::fileno(stream)) && !is_forbidden ? Colour::kOn : Colour::kOff;
}

TextStyle StyleOfStandardError() {
  std::error_code error;
  return {ColourOf(stderr), PathText(std::filesystem::current_path(error))};
}

ProgressDisplay::ProgressDisplay(ProgressMode mode, TerminalUse use) {
  if (mode == ProgressMode::kNone) return;
  if (mode != ProgressMode::kLines && IsCapableTerminal(kStandardError)) {
    row_ = std::make_unique<StatusRow>(kStandardError, use);
    hides_program_ = mode == ProgressMode::kAuto && IsSameTerminal(kStandardOutput, kStandardError);
  }
  progress_.pause = [this] { Pause(); };
  progress_.resume = [this] { Resume(); };
  Start();
}

// All signals go to the main thread. If the thread cannot be started, the run only shows no
// progress.
void ProgressDisplay::Start() {
  try {
    thread_ = StartThreadWithoutSignals([this] { Run(); });
  } catch (const std::system_error&) {
  }
}

ProgressDisplay::~ProgressDisplay() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressDisplay::Run() {
  const milliseconds period = row_ ? kBarPeriod : LinePeriod();
  Clock::time_point next = begin_ + (row_ ? kPatience : period);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return is_ending_; })) {
    if (!is_paused_) Tick();
    next = std::max(next + period, Clock::now());
  }
  row_.reset();
}

void ProgressDisplay::Tick() {
  const std::optional<Progress> progress = progress_.Now();
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_);
  if (row_) {
    const bool is_hidden = !progress || (hides_program_ && IsProgramsTurn(progress->stage));
    if (is_hidden) return row_->Hide();
    return ShowBar(*progress, elapsed);
  }
  if (!progress) return;
  const std::string line = ConsoleText(ProgressLine(*progress, elapsed) + '\n');
  WriteUnbuffered(kStandardError, line);  // at once: others write there, too
}

void ProgressDisplay::ShowBar(const Progress& progress, std::chrono::seconds elapsed) {
  const std::size_t columns = row_->Columns();
  if (columns != 0) row_->Show(ProgressBar(progress, elapsed, columns));
}

Expected<RunResult> RunShowingProgress(RunRequest& request, ProgressMode mode) {
  ProgressDisplay display(mode, TerminalUse::kShared);
  request.progress = display.progress();
  Expected<RunResult> result = Run(request);
  request.progress = nullptr;
  return result;
}

void ProgressDisplay::Pause() {
  const std::lock_guard lock(mutex_);
  is_paused_ = true;
  if (row_) row_->Hide();
}

void ProgressDisplay::Resume() {
  const std::lock_guard lock(mutex_);
  is_paused_ = false;
}

}  // namespace leakgate
