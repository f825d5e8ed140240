#include "runner/reach/nt/windows_of.h"

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

// The functions are looked up, so that the runner itself loads the library only here.
struct User {
  User() : library(::LoadLibraryExW(L"user32.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32)) {
    Find("EnumThreadWindows", for_each_window);
    Find("FindWindowExW", find_window);
    Find("GetWindowThreadProcessId", process_of);
  }
  template <typename Function>
  void Find(const char* name, Function& function) {
    if (library == nullptr) return;
    function = reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
  }

  HMODULE library;
  decltype(&::EnumThreadWindows) for_each_window = nullptr;
  decltype(&::FindWindowExW) find_window = nullptr;
  decltype(&::GetWindowThreadProcessId) process_of = nullptr;
};

BOOL CALLBACK NoteWindow(HWND, LPARAM found) {
  *reinterpret_cast<bool*>(found) = true;
  return FALSE;
}

}  // namespace

bool HasWindows(int pid, std::span<const StoppedThread> threads,
                std::span<const ImageModule> modules) {
  const bool may_have = std::any_of(modules.begin(), modules.end(), [](const ImageModule& module) {
    return FoldedPath(module.path).ends_with("/user32.dll");
  });
  if (!may_have) return false;
  const User user;
  const bool can_ask =
      user.for_each_window != nullptr && user.find_window != nullptr && user.process_of != nullptr;
  if (!can_ask) return true;
  bool found = false;
  for (const StoppedThread& thread : threads) {
    user.for_each_window(static_cast<DWORD>(thread.tid), NoteWindow,
                         reinterpret_cast<LPARAM>(&found));
  }
  // Those for messages alone are listed nowhere else.
  HWND window = nullptr;
  while (!found && (window = user.find_window(HWND_MESSAGE, window, nullptr, nullptr)) != nullptr) {
    DWORD owner = 0;
    user.process_of(window, &owner);
    found = owner == static_cast<DWORD>(pid);
  }
  return found;
}

}  // namespace leakgate
