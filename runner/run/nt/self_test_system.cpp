#include "runner/run/nt/self_test_system.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

template <typename Function>
Function* FindIn(const wchar_t* library, const char* name) {
  return reinterpret_cast<Function*>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(library), name)));
}

std::string WindowsVersion() {
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof(version);
  // GetVersionEx tells programs without a manifest of an older one.
  const auto get = FindIn<LONG WINAPI(OSVERSIONINFOW*)>(L"ntdll.dll", "RtlGetVersion");
  if (get != nullptr) get(&version);
  return fmt::format("Windows {}.{}.{}", version.dwMajorVersion, version.dwMinorVersion,
                     version.dwBuildNumber);
}

Check CheckSystem() {
  const std::string wine = WineVersion();
  if (wine.empty()) return {CheckResult::kOk, "system", WindowsVersion()};
  return {
      CheckResult::kWarning, "system",
      fmt::format("this is Wine {}, which calls itself {}. What follows says nothing of Windows' "
                  "own heaps, its policies, its DbgHelp and antivirus software",
                  wine, WindowsVersion())};
}

// Policies that processes of this user begin with, unless their programs have others.
struct Policy {
  const char* name;
  int number;          // PROCESS_MITIGATION_POLICY
  DWORD bit;           // in the answer's first word
  const char* remedy;  // null where the policy does no harm
};
constexpr char kImportItself[] = "programs must link leakgate::agent_import";
constexpr Policy kPolicies[] = {
    {"ProhibitDynamicCode (ACG)", 2, 1, kImportItself},
    {"MicrosoftSignedOnly", 8, 1, "the agent is not signed by Microsoft, so nothing can be traced"},
    {"NoRemoteImages", 10, 1, "leakgate must be on a local disk"},
    {"control flow guard (CFG)", 7, 1, nullptr},
    {"shadow stacks (CET)", 15, 1, nullptr},
};

std::vector<Check> PolicyChecks() {
  const auto get = FindIn<BOOL WINAPI(HANDLE, int, void*, SIZE_T)>(L"kernel32.dll",
                                                                   "GetProcessMitigationPolicy");
  if (get == nullptr)
    return {{CheckResult::kWarning, "policies", "this system does not tell them"}};
  std::vector<Check> checks;
  std::string harmless;
  for (const Policy& policy : kPolicies) {
    DWORD flags = 0;
    if (!get(GetCurrentProcess(), policy.number, &flags, sizeof(flags)) ||
        (flags & policy.bit) == 0)
      continue;
    if (policy.remedy == nullptr) {
      harmless +=
          fmt::format("{}{}", harmless.empty() ? "on, and no hindrance: " : ", ", policy.name);
    } else {
      checks.push_back({CheckResult::kWarning, "policies",
                        fmt::format("{} is on; {}", policy.name, policy.remedy)});
    }
  }
  if (!checks.empty() && harmless.empty()) return checks;
  checks.push_back({CheckResult::kOk, "policies", harmless.empty() ? "none is on" : harmless});
  return checks;
}

}  // namespace

std::vector<Check> ChecksOfSystem() {
  std::vector<Check> checks = {CheckSystem()};
  for (Check& check : PolicyChecks()) checks.push_back(std::move(check));
  return checks;
}

}  // namespace leakgate
