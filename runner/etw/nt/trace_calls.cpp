#include "runner/etw/nt/trace_calls.h"

#include <fmt/format.h>

namespace leakgate {
namespace {

template <typename Function>
bool Find(HMODULE library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
  return function != nullptr;
}

}  // namespace

Expected<TraceCalls> LoadTraceCalls(const std::filesystem::path& control_library,
                                    const std::filesystem::path& system_library) {
  TraceCalls calls;
  const HMODULE control =
      LoadLibraryExW(control_library.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (control == nullptr || !Find(control, "StartHeapTrace", calls.start) ||
      !Find(control, "UpdateHeapTrace", calls.update)) {
    return InconclusiveError(
        fmt::format("cannot load StartHeapTrace from {}: {}; install the Windows Performance "
                    "Toolkit, or let leakgate's agent trace",
                    Utf8Of(control_library.wstring()), WindowsErrorText()));
  }
  const HMODULE system = LoadLibraryW(system_library.c_str());
  if (system == nullptr || !Find(system, "ControlTraceW", calls.control) ||
      !Find(system, "OpenTraceW", calls.open) || !Find(system, "ProcessTrace", calls.process) ||
      !Find(system, "CloseTrace", calls.close)) {
    return InconclusiveError(
        fmt::format("cannot load the event tracing of Windows from {}: {}; let leakgate's agent "
                    "trace",
                    Utf8Of(system_library.wstring()), WindowsErrorText()));
  }
  return calls;
}

}  // namespace leakgate
