#include "runner/snapshot/file/describe_process.h"

#include "runner/base/nt/win32.h"
// It needs <windows.h>.
#include <fmt/format.h>
#include <winternl.h>

namespace leakgate {
namespace {

// GetVersionEx tells programs without a manifest of an old Windows.
std::string SystemText() {
  using GetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
  const auto get = reinterpret_cast<GetVersion>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")));
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof(version);
  if (get == nullptr || get(&version) != 0) return "Windows";
  const std::string wine = WineVersion();
  return fmt::format("Windows {}.{}.{} x86_64{}", version.dwMajorVersion, version.dwMinorVersion,
                     version.dwBuildNumber, wine.empty() ? "" : fmt::format(" (Wine {})", wine));
}

// When the system was booted, in units of 100 ns since 1601.
std::string BootId() {
  SYSTEM_TIMEOFDAY_INFORMATION times{};
  constexpr auto kTimeOfDay = static_cast<SYSTEM_INFORMATION_CLASS>(3);
  if (NtQuerySystemInformation(kTimeOfDay, &times, sizeof(times), nullptr) != 0) return "";
  LARGE_INTEGER begin{};
  static_assert(sizeof(times) > sizeof(begin));
  std::memcpy(&begin, &times, sizeof(begin));
  return fmt::format("{:016x}", begin.QuadPart);
}

}  // namespace

MachineFacts DescribeMachine() {
  const std::wstring name = TextThat([](wchar_t* to, DWORD units) -> DWORD {
    return GetComputerNameExW(ComputerNameDnsHostname, to, &units) != 0 ? units : 0;
  });
  return {.host = Utf8Of(name), .kernel = SystemText(), .boot_id = BootId()};
}

}  // namespace leakgate
