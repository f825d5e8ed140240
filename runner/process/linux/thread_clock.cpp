#include "runner/process/linux/thread_clock.h"

#include <sched.h>
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

// Returns the number after a name in a file of /proc, and after what stands between the two.
std::optional<std::uint64_t> NumberBehind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// Returns field `number` of /proc/PID/task/TID/stat, as proc(5) counts them, from 3 on.
std::string_view StatField(std::string_view stat, int number) {
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  stat.remove_prefix(name_end + 2);
  for (int i = 3; i < number; ++i) {
    const std::size_t space = stat.find(' ');
    if (space == std::string_view::npos) return {};
    stat.remove_prefix(space + 1);
  }
  return stat.substr(0, stat.find_first_of(" \n"));
}

// Returns the processor on which the thread ran last.
std::optional<int> ProcessorOf(int pid, int tid) {
  const std::string stat = ReadTaskFile(pid, tid, "stat");
  const std::string_view field = StatField(stat, 39);
  int processor = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), processor);
  return error == std::errc() ? std::optional(processor) : std::nullopt;
}

// Returns when the scheduler last saw the thread run, by the clock of its processor. The kernel
// forgets this when it moves a sleeping thread to another processor (migrate_task_rq_fair of
// kernel/sched/fair.c).
std::optional<Milliseconds> LastRun(int pid, int tid) {
  constexpr std::string_view kName = "se.exec_start";
  const std::string text = ReadTaskFile(pid, tid, "sched");
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t number = text.find_first_of("0123456789", at);
  if (number == std::string::npos) return std::nullopt;
  const double milliseconds = std::strtod(text.c_str() + number, nullptr);
  return milliseconds > 0 ? std::optional(Milliseconds(milliseconds)) : std::nullopt;
}

// Returns a processor's clock, or nothing if this thread may not run there. The clock does not
// count the time that went to interrupts and to other virtual machines, so the clocks of two
// processors drift apart.
std::optional<Milliseconds> ClockOf(int processor) {
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof(before), &before) != 0 || processor >= CPU_SETSIZE) {
    return std::nullopt;
  }
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(static_cast<std::size_t>(processor), &there);
  if (::sched_setaffinity(0, sizeof(there), &there) != 0) return std::nullopt;
  std::this_thread::sleep_for(
      std::chrono::microseconds(1));  // the thread has just been given the processor
  const std::optional<Milliseconds> now = LastRun(::getpid(), ::gettid());
  ::sched_setaffinity(0, sizeof(before), &before);
  return now;
}

}  // namespace

std::optional<std::uint64_t> RunsOf(int pid, int tid) {
  // The file has: time on a processor, time spent waiting for one, and how often the thread was
  // given one. All are 0 in a kernel that does not count.
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

std::optional<std::string> NameIfAsleep(int pid, int tid) {
  const std::string stat = ReadTaskFile(pid, tid, "stat");
  const std::string_view state = StatField(stat, 3);
  if (state != "S" && state != "D") return std::nullopt;
  const std::size_t begin = stat.find('(') + 1;
  return stat.substr(begin, std::min(stat.rfind(") "), stat.find('\n', begin)) - begin);
}

std::optional<Clock::time_point> SleepsSince(int pid, int tid) {
  const std::optional<int> processor = ProcessorOf(pid, tid);
  const std::optional<Milliseconds> last = processor ? LastRun(pid, tid) : std::nullopt;
  const std::optional<Milliseconds> now = last ? ClockOf(*processor) : std::nullopt;
  if (!now || ProcessorOf(pid, tid) != processor || LastRun(pid, tid) != last) return std::nullopt;
  const Milliseconds slept = std::max(*now - *last, Milliseconds(0));
  return Clock::now() - std::chrono::duration_cast<Clock::duration>(slept);
}

}  // namespace leakgate
