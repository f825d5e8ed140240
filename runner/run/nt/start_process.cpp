#include "runner/run/nt/start_process.h"

#include <thread>

namespace leakgate {
namespace {

// Backslashes are literal, unless a quote follows them: then each of them, and the quote, takes one
// more.
std::wstring Quoted(std::wstring_view argument) {
  const bool is_plain =
      !argument.empty() && argument.find_first_of(L" \t\n\v\"") == std::wstring_view::npos;
  if (is_plain) return std::wstring(argument);
  std::wstring quoted = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t unit : argument) {
    if (unit == L'"') quoted.append(backslashes + 1, L'\\');
    backslashes = unit == L'\\' ? backslashes + 1 : 0;
    quoted += unit;
  }
  quoted.append(backslashes, L'\\');
  return quoted + L'"';
}

std::wstring EnvironmentBlock(const std::vector<std::string>& environment) {
  std::wstring block;
  for (const std::string& variable : environment) (block += WideOf(variable)) += L'\0';
  if (block.empty()) block += L'\0';
  return block + L'\0';
}

}  // namespace

std::wstring CommandLineOf(const std::string& name, const std::vector<std::string>& arguments) {
  std::wstring line = Quoted(WideOf(name));
  for (const std::string& argument : arguments) (line += L' ') += Quoted(WideOf(argument));
  return line;
}

UniqueFd OpenNull() {
  SECURITY_ATTRIBUTES inheritable{sizeof(inheritable), nullptr, TRUE};
  return OwnHandle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                               FILE_SHARE_READ | FILE_SHARE_WRITE, &inheritable, OPEN_EXISTING, 0,
                               nullptr));
}

namespace {

void Drain(HANDLE pipe) {
  std::vector<char> swallowed(1U << 16);
  DWORD bytes = 0;
  while (ReadFile(pipe, swallowed.data(), static_cast<DWORD>(swallowed.size()), &bytes, nullptr)) {
  }
}

// Returns the end of the pipe that is written to, for as long as this process runs; nullptr if
// there is none.
HANDLE MakeSink() {
  HANDLE to_read = nullptr;
  HANDLE to_write = nullptr;
  if (!CreatePipe(&to_read, &to_write, nullptr, 1U << 20)) return nullptr;
  std::thread(Drain, to_read).detach();
  return to_write;
}

}  // namespace

UniqueFd OpenSink() {
  static const HANDLE sink = MakeSink();
  HANDLE copy = nullptr;
  const bool is_copied =
      sink != nullptr && DuplicateHandle(GetCurrentProcess(), sink, GetCurrentProcess(), &copy, 0,
                                         TRUE, DUPLICATE_SAME_ACCESS);
  return is_copied ? OwnHandle(copy) : OpenNull();
}

std::optional<StartedProcess> StartProcess(const ProcessToStart& what) {
  std::wstring line = CommandLineOf(what.name, what.arguments);
  std::wstring block;
  if (what.environment) block = EnvironmentBlock(*what.environment);
  STARTUPINFOW begin{};
  begin.cb = sizeof(begin);
  UniqueFd none;
  if (what.output != nullptr) {
    none = OpenNull();
    begin.dwFlags = STARTF_USESTDHANDLES;
    begin.hStdInput = HandleOf(none);
    begin.hStdOutput = begin.hStdError = what.output;
  }
  PROCESS_INFORMATION started{};
  if (!CreateProcessW(
          what.program.c_str(), line.data(), nullptr, nullptr, TRUE,
          what.flags | CREATE_UNICODE_ENVIRONMENT, what.environment ? block.data() : nullptr,
          what.directory.empty() ? nullptr : what.directory.c_str(), &begin, &started)) {
    return std::nullopt;
  }
  return StartedProcess{static_cast<int>(started.dwProcessId), OwnHandle(started.hProcess),
                        OwnHandle(started.hThread)};
}

}  // namespace leakgate
