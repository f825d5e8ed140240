#include "runner/process/nt/command_line.h"

#include <cstring>

#include "runner/base/nt/win32.h"
// Needs what <windows.h> declares.
#include <shellapi.h>
#include <winternl.h>

#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

template <typename T>
T ReadFrom(int pid, const void* address) {
  T value{};
  const std::string bytes =
      ReadMemoryOf(pid, reinterpret_cast<std::uint64_t>(address), sizeof(value));
  if (bytes.size() == sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

}  // namespace

// winternl.h has the members that lead there.
std::wstring CommandLineOf(int pid) {
  const UniqueFd process =
      OwnHandle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
  PROCESS_BASIC_INFORMATION facts{};
  if (!process || NtQueryInformationProcess(HandleOf(process), ProcessBasicInformation, &facts,
                                            sizeof(facts), nullptr) < 0) {
    return L"";
  }
  const auto block = ReadFrom<PEB>(pid, facts.PebBaseAddress);
  const auto parameters = ReadFrom<RTL_USER_PROCESS_PARAMETERS>(pid, block.ProcessParameters);
  const UNICODE_STRING& line = parameters.CommandLine;
  const std::string bytes =
      ReadMemoryOf(pid, reinterpret_cast<std::uint64_t>(line.Buffer), line.Length);
  std::wstring text(bytes.size() / sizeof(wchar_t), L'\0');
  std::memcpy(text.data(), bytes.data(), text.size() * sizeof(wchar_t));
  return bytes.size() == line.Length ? text : L"";
}

std::vector<std::string> SplitCommandLine(const std::wstring& line) {
  if (line.empty()) return {};  // which would be taken for this program's name
  int count = 0;
  wchar_t** const all = CommandLineToArgvW(line.c_str(), &count);
  std::vector<std::string> arguments;
  for (int i = 0; all != nullptr && i < count; ++i) arguments.push_back(Utf8Of(all[i]));
  LocalFree(all);
  return arguments;
}

std::vector<std::string> ArgumentsInLine(const std::wstring& line) {
  if (line.find(L"\"\"") != std::wstring::npos) return {};
  return SplitCommandLine(line);
}

}  // namespace leakgate
