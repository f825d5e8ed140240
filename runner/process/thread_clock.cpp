#include "runner/process/thread_clock.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// The number behind a name in a file of /proc, and what stands between the two.
std::optional<std::uint64_t> NumberBehind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// When the scheduler last saw the thread run, by the scheduler's own clock.
std::optional<Milliseconds> LastRun(int pid, int tid) {
  constexpr std::string_view kName = "se.exec_start";
  const std::string text = ReadTaskFile(pid, tid, "sched");
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t number = text.find_first_of("0123456789", at);
  if (number == std::string::npos) return std::nullopt;
  return Milliseconds(std::strtod(text.c_str() + number, nullptr));
}

// The scheduler's clock for this thread, which must have been given a processor just now.
std::optional<Milliseconds> SchedulersNow() {
  std::this_thread::sleep_for(std::chrono::microseconds(1));
  return LastRun(::getpid(), ::gettid());
}

}  // namespace

std::optional<std::uint64_t> RunsOf(int pid, int tid) {
  // Time on a processor, time that it waited for one, and how often it was given one. All are 0 in
  // a kernel that does not count.
  const std::string text = ReadTaskFile(pid, tid, "schedstat");
  const std::size_t last = text.find_last_of(' ');
  const auto runs = last == std::string::npos
                        ? std::nullopt
                        : NumberBehind(std::string_view(text).substr(last), " ");
  if (runs && *runs != 0) return runs;
  const std::string status = ReadTaskFile(pid, tid, "status");
  const auto voluntary = NumberBehind(status, "\nvoluntary_ctxt_switches:");
  const auto forced = NumberBehind(status, "\nnonvoluntary_ctxt_switches:");
  if (!voluntary || !forced) return std::nullopt;
  return *voluntary + *forced;
}

bool IsAsleep(int pid, int tid) {
  const std::string text = ReadTaskFile(pid, tid, "stat");
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state == 'S' || state == 'D';
}

std::optional<Clock::time_point> SleepsSince(int pid, int tid) {
  const std::optional<Milliseconds> last = LastRun(pid, tid);
  const std::optional<Milliseconds> now = last ? SchedulersNow() : std::nullopt;
  if (!now) return std::nullopt;
  const Milliseconds slept = std::max(*now - *last, Milliseconds(0));
  return Clock::now() - std::chrono::duration_cast<Clock::duration>(slept);
}

}  // namespace leakgate
