#include "runner/attach/linux/exec_call.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "runner/attach/linux/target_module.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/linux/waiting_call.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostOfScript = 256;  // as much as the kernel reads
constexpr std::size_t kMostText = std::size_t{1} << 12;
constexpr std::size_t kMostArguments = 256;  // further arguments distinguish no programs

// What the thread has passed to execve or execveat.
struct CallArguments {
  bool is_running = false;
  bool is_known = false;
  std::uint64_t path = 0;
  std::uint64_t arguments = 0;
};

CallArguments ReadCall(int tid) {
  const std::optional<WaitingIn> waiting = ReadWaiting(tid, tid);
  if (!waiting) return {};
  const auto& given = waiting->arguments;
  if (waiting->call == SYS_execve) return {false, true, given[0], given[1]};
  if (waiting->call == SYS_execveat) return {false, true, given[1], given[2]};
  return {.is_running = waiting->call == -1 && waiting->pc == 0};
}

std::optional<std::string> ReadText(const TargetMemory& memory, std::uint64_t address) {
  std::optional<std::string> text(std::in_place);
  char part[256];
  while (text->size() < kMostText) {
    const std::size_t bytes = sizeof(part) - address % sizeof(part);  // never beyond a page's end
    if (!memory.Read(address, part, bytes)) return std::nullopt;
    const std::size_t length = ::strnlen(part, bytes);
    text->append(part, length);
    if (length < bytes) break;
    address += bytes;
  }
  return text;
}

std::vector<std::string> ReadArguments(const TargetMemory& memory, std::uint64_t address) {
  std::vector<std::string> arguments;
  while (arguments.size() < kMostArguments && address != 0) {
    const auto text_at = memory.Get<std::uint64_t>(address);
    if (!text_at || *text_at == 0) break;
    std::optional<std::string> text = ReadText(memory, *text_at);
    if (!text) break;
    arguments.push_back(*std::move(text));
    address += sizeof(*text_at);
  }
  return arguments;
}

std::string BeginOf(int file) {
  std::string begin(kMostOfScript, '\0');
  const ssize_t bytes = ::pread(file, begin.data(), begin.size(), 0);
  begin.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return begin;
}

// Reads without opening the memory. Returns how many bytes could be read.
std::size_t ReadMemory(int tid, std::uint64_t address, void* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  const ssize_t count = ::process_vm_readv(tid, &local, 1, &remote, 1, 0);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

// The kernel runs for a script: INTERPRETER [ARGUMENT] SCRIPT and the script's arguments.
void TakeInterpreter(int tid, const ScriptLine& line, ExecCall& call) {
  call.script = call.program.path;
  std::vector<std::string>& arguments = call.program.arguments;
  if (!arguments.empty()) arguments.erase(arguments.begin());
  arguments.insert(arguments.begin(), call.named.empty() ? call.script : call.named);
  if (!line.argument.empty()) arguments.insert(arguments.begin(), line.argument);
  arguments.insert(arguments.begin(), line.interpreter);
  const std::string root = line.interpreter.starts_with('/') ? "root" : "cwd/";
  const UniqueFd found =
      OpenPlaceOf(fmt::format("/proc/{}/{}{}", tid, root, line.interpreter), O_PATH);
  call.program.path = found ? PathOfDescriptor(found.get()) : line.interpreter;
}

}  // namespace

std::string PathOfDescriptor(int file) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string path = ReadLinkOf(fmt::format("/proc/self/fd/{}", file));
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

ScriptLine ParseScriptLine(std::string_view begin) {
  constexpr std::string_view kBlank = " \t\r";
  if (!begin.starts_with("#!")) return {};
  std::string_view line = begin.substr(2, begin.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  ScriptLine parsed;
  parsed.interpreter = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(parsed.interpreter.size());
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  parsed.argument = line.substr(0, line.find_last_not_of(kBlank) + 1);
  return parsed;
}

ExecCall ReadExecCall(int tid, int file) {
  ExecCall call;
  call.program.path = PathOfDescriptor(file);
  const CallArguments given = ReadCall(tid);
  call.is_running = given.is_running;
  if (given.is_known) {
    const Expected<TargetMemory> memory = TargetMemory::Open(tid);
    if (memory) {
      call.named = ReadText(*memory, given.path).value_or("");
      call.program.arguments = ReadArguments(*memory, given.arguments);
    }
  }
  call.program.name = call.named.empty() ? call.program.path : call.named;
  const ScriptLine line = ParseScriptLine(BeginOf(file));
  if (!line.interpreter.empty()) TakeInterpreter(tid, line, call);
  return call;
}

ExecName ReadExecName(int tid, int file) {
  ExecName name{PathOfDescriptor(file), "", BeginOf(file).starts_with("#!")};
  const CallArguments given = ReadCall(tid);
  name.is_running = given.is_running;
  std::uint64_t at = 0;
  if (!given.is_known || ReadMemory(tid, given.arguments, &at, sizeof(at)) != sizeof(at)) {
    return name;
  }
  char text[kMostText];
  const std::size_t to_page_end = sizeof(text) - at % sizeof(text);
  const std::size_t bytes = ReadMemory(tid, at, text, to_page_end);
  name.first_argument.assign(text, ::strnlen(text, bytes));
  if (name.first_argument.size() == bytes) name.first_argument.clear();  // it is not all of it
  return name;
}

}  // namespace leakgate
