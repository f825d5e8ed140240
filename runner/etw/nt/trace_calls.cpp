#include "runner/etw/nt/trace_calls.h"

#include <fmt/format.h>

namespace leakgate {
namespace {

template <typename Function>
bool Find(HMODULE library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
  return function != nullptr;
}

bool IsFile(const std::filesystem::path& path) {
  const DWORD attributes = GetFileAttributesW(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

}  // namespace

std::filesystem::path FindControlLibrary() {
  constexpr const wchar_t* kLibrary = L"KernelTraceControl.dll";
  for (const std::filesystem::path& kits : KitsFolders()) {
    const std::filesystem::path found = kits / L"Windows Performance Toolkit" / kLibrary;
    if (IsFile(found)) return found;
  }
  // Later systems have wpr.exe there.
  const std::filesystem::path system = SystemFolder();
  const std::filesystem::path found = system / kLibrary;
  return !system.empty() && IsFile(found) ? found : std::filesystem::path();
}

Expected<TraceCalls> LoadTraceCalls(const std::filesystem::path& control_library,
                                    const std::filesystem::path& system_library) {
  TraceCalls calls;
  // What the library needs itself is looked for beside it, and in Windows' own folder alone.
  constexpr DWORD kSafely = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32;
  if (!control_library.empty()) {
    const HMODULE control = LoadLibraryExW(control_library.c_str(), nullptr, kSafely);
    if (control == nullptr || !Find(control, "StartHeapTrace", calls.start) ||
        !Find(control, "UpdateHeapTrace", calls.update)) {
      return InconclusiveError(
          fmt::format("cannot load StartHeapTrace from {}: {}; install the Windows Performance "
                      "Toolkit anew, or let leakgate's agent trace",
                      Utf8Of(control_library.wstring()), WindowsErrorText()));
    }
  }
  const DWORD where = system_library.is_absolute() ? kSafely : LOAD_LIBRARY_SEARCH_SYSTEM32;
  const HMODULE system = LoadLibraryExW(system_library.c_str(), nullptr, where);
  if (system == nullptr || !Find(system, "StartTraceW", calls.start_plain) ||
      !Find(system, "ControlTraceW", calls.control) || !Find(system, "OpenTraceW", calls.open) ||
      !Find(system, "ProcessTrace", calls.process) || !Find(system, "CloseTrace", calls.close)) {
    return InconclusiveError(
        fmt::format("cannot load the event tracing of Windows from {}: {}; let leakgate's agent "
                    "trace",
                    Utf8Of(system_library.wstring()), WindowsErrorText()));
  }
  return calls;
}

}  // namespace leakgate
