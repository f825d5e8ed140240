#include "runner/run/nt/debugged_program.h"

// These need <windows.h>.
#include <psapi.h>
#include <winternl.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/symbols/nt/pe_file.h"

namespace leakgate {
namespace {

// Those that the agent's hooks know, too.
constexpr std::array<std::string_view, 3> kRuntimes = {"ucrtbase.dll", "ucrtbased.dll",
                                                       "msvcrt.dll"};
constexpr std::array<std::string_view, 4> kExits = {"exit", "_exit", "_Exit", "quick_exit"};
constexpr std::string_view kSystem = "ntdll.dll";
constexpr std::string_view kSystemsExit = "RtlExitUserProcess";
constexpr std::uint8_t kBreakpointCode = 0xCC;

std::uint64_t PerformanceCounter() {
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  return static_cast<std::uint64_t>(now.QuadPart);
}

std::string PathOfFile(HANDLE file) {
  if (file == nullptr) return {};
  const std::wstring path = PathOfHandle(file);
  std::wstring_view text = path;
  constexpr std::wstring_view kPrefix = LR"(\\?\)";
  const bool is_on_disk = text.starts_with(kPrefix) && text.size() > 5 && text[5] == L':';
  if (is_on_disk) text.remove_prefix(kPrefix.size());
  return WithSlashes(Utf8Of(std::wstring(text)));
}

// While its libraries are being loaded, the process itself has no list of them.
std::string PathOfMapping(HANDLE process, void* base) {
  wchar_t path[4096];
  const DWORD length =
      K32GetModuleFileNameExW(process, static_cast<HMODULE>(base), path, std::size(path));
  return WithSlashes(Utf8Of(std::wstring(path, length)));
}

bool IsOneOf(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string LowerNameOf(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return name;
}

// Windows' heaps and some programs behave differently where they find a debugger. It is noted in
// the process' own block, which winternl.h has. Windows asks its kernel whether to tell a debugger
// of an exception; Wine asks that block.
void HideDebugger(HANDLE process) {
  PROCESS_BASIC_INFORMATION facts{};
  if (!WineVersion().empty() || NtQueryInformationProcess(process, ProcessBasicInformation, &facts,
                                                          sizeof(facts), nullptr) < 0) {
    return;
  }
  const BYTE none = 0;
  WriteProcessMemory(process, &facts.PebBaseAddress->BeingDebugged, &none, sizeof(none), nullptr);
}

}  // namespace

Expected<void> DebuggedProgram::Resume() {
  HideDebugger(handle());
  return process_.Resume();
}

DebuggedProgram::Stop DebuggedProgram::WaitUntil(std::optional<Clock::time_point> deadline) {
  for (;;) {
    if (pending_) {
      ContinueDebugEvent(pending_->dwProcessId, pending_->dwThreadId, pending_status_);
      pending_.reset();
      if (has_gone_) {
        LetStartedGo();
        WaitForSingleObject(handle(), INFINITE);
        return Stop::kEnded;
      }
    }
    DWORD patience = INFINITE;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (left <= std::chrono::milliseconds(0)) return Stop::kTime;
      patience = static_cast<DWORD>(std::min<std::int64_t>(left.count(), 60'000));
    }
    DEBUG_EVENT event{};
    if (!WaitForDebugEvent(&event, patience)) {
      if (GetLastError() == ERROR_SEM_TIMEOUT) continue;
      WaitForSingleObject(handle(), INFINITE);  // there is no debugger any more
      return Stop::kEnded;
    }
    const Answer answer = OnEvent(event);
    pending_ = event;
    pending_status_ = answer.status;
    if (answer.stop) return *answer.stop;
  }
}

ProgramEnd DebuggedProgram::end() const {
  if (!has_ended_in_order_) return ProgramEnd::kUnseen;
  return was_held_ ? ProgramEnd::kExit : ProgramEnd::kUnannounced;
}

DebuggedProgram::Answer DebuggedProgram::OnEvent(const DEBUG_EVENT& event) {
  if (event.dwProcessId != static_cast<DWORD>(process_.pid())) return OnEventOfStarted(event);
  switch (event.dwDebugEventCode) {
    case CREATE_PROCESS_DEBUG_EVENT:
      OnModule(event.u.CreateProcessInfo.lpBaseOfImage, event.u.CreateProcessInfo.hFile);
      HideDebugger(handle());
      return {};
    case LOAD_DLL_DEBUG_EVENT:
      OnModule(event.u.LoadDll.lpBaseOfDll, event.u.LoadDll.hFile);
      return {};
    case UNLOAD_DLL_DEBUG_EVENT:
      modules_.Unload(reinterpret_cast<std::uint64_t>(event.u.UnloadDll.lpBaseOfDll),
                      PerformanceCounter());
      return {};
    case EXCEPTION_DEBUG_EVENT:
      return OnException(event);
    case EXIT_PROCESS_DEBUG_EVENT:
      has_gone_ = true;
      return {};
    default:
      return {};
  }
}

DebuggedProgram::Answer DebuggedProgram::OnEventOfStarted(const DEBUG_EVENT& event) {
  const DWORD pid = event.dwProcessId;
  switch (event.dwDebugEventCode) {
    case CREATE_PROCESS_DEBUG_EVENT: {
      const CREATE_PROCESS_DEBUG_INFO& created = event.u.CreateProcessInfo;
      std::string path = PathOfFile(created.hFile);
      if (created.hFile != nullptr) CloseHandle(created.hFile);
      if (path.empty()) path = PathOfMapping(created.hProcess, created.lpBaseOfImage);
      started_.push_back(std::move(path));
      HideDebugger(created.hProcess);
      running_[pid] = false;
      return {};
    }
    case LOAD_DLL_DEBUG_EVENT:
      if (event.u.LoadDll.hFile != nullptr) CloseHandle(event.u.LoadDll.hFile);
      return {};
    case EXCEPTION_DEBUG_EVENT: {
      const DWORD code = event.u.Exception.ExceptionRecord.ExceptionCode;
      const bool is_begin =
          code == static_cast<DWORD>(EXCEPTION_BREAKPOINT) && !std::exchange(running_[pid], true);
      if (is_begin) return {};
      return {.status = static_cast<DWORD>(DBG_EXCEPTION_NOT_HANDLED)};
    }
    case EXIT_PROCESS_DEBUG_EVENT:
      running_.erase(pid);
      return {};
    default:
      return {};
  }
}

// They may outlive the program, and would wait for a debugger at their next event.
void DebuggedProgram::LetStartedGo() {
  for (const auto& [pid, has_begun] : running_) DebugActiveProcessStop(pid);
  running_.clear();
}

DebuggedProgram::Answer DebuggedProgram::OnException(const DEBUG_EVENT& event) {
  const EXCEPTION_RECORD& record = event.u.Exception.ExceptionRecord;
  constexpr Answer kForProgram = {.status = static_cast<DWORD>(DBG_EXCEPTION_NOT_HANDLED)};
  if (record.ExceptionCode != static_cast<DWORD>(EXCEPTION_BREAKPOINT)) return kForProgram;
  const auto address = reinterpret_cast<std::uint64_t>(record.ExceptionAddress);
  // Some systems tell where the thread goes on, one byte further.
  for (const std::uint64_t at : {address, address - 1}) {
    if (breakpoints_.contains(at)) return OnBreakpoint(at, event.dwThreadId);
  }
  const bool is_systems = address >= system_begin_ && address < system_end_;
  if (has_begun_ || !is_systems) return kForProgram;
  has_begun_ = true;  // for debuggers, once all that the program imports is loaded
  HideDebugger(handle());
  return {};
}

DebuggedProgram::Answer DebuggedProgram::OnBreakpoint(std::uint64_t address, DWORD thread) {
  const Breakpoint hit = breakpoints_[address];
  if (!StepBack(thread, address)) return {.status = static_cast<DWORD>(DBG_EXCEPTION_NOT_HANDLED)};
  if (!hit.is_set) return {};  // another thread came here before it was taken away
  if (hit.is_of_system) has_ended_in_order_ = true;
  // Who ends the process without `exit`, though the program has that, destroys no static object.
  const bool is_end = !was_held_ && (!hit.is_of_system || program_has_exit_);
  if (hit.is_of_system || is_end) RemoveBreakpoints();
  if (!hit.is_of_system) {
    // What is left is the system's, which tells whether the process ends in order.
    for (const auto& [at, breakpoint] : breakpoints_) {
      if (breakpoint.is_of_system) SetBreakpoint(at, true);
    }
  }
  if (!is_end) return {};
  was_held_ = true;
  held_thread_ = static_cast<int>(thread);
  ForgetDeadRegisters(thread);
  return {.stop = Stop::kHeld};
}

void DebuggedProgram::OnModule(void* base, HANDLE file) {
  std::string path = PathOfFile(file);
  if (file != nullptr) CloseHandle(file);
  if (path.empty()) path = PathOfMapping(handle(), base);
  const auto begin = reinterpret_cast<std::uint64_t>(base);
  const std::unique_ptr<PeFile> image = PeFile::Open(path);
  Module module{.begin = begin, .end = begin, .bias = begin, .path = path, .build_id = {}};
  if (image != nullptr) {
    module.end = begin + image->image_bytes();
    module.build_id = image->build_id();
  }
  const std::string name = LowerNameOf(path);
  const bool is_program = !has_program_;
  has_program_ = true;  // it comes first
  if (is_program && image != nullptr) {
    const auto imports = image->ReadImports();
    program_has_exit_ = std::any_of(imports.begin(), imports.end(),
                                    [](const auto& slot) { return slot.second == kExits[0]; });
  }
  if (system_begin_ == 0 && name == kSystem) {
    system_begin_ = begin;
    system_end_ = module.end;
  }
  modules_.Load(std::move(module), PerformanceCounter());
  if (!was_held_ && image != nullptr) SetBreakpoints(begin, name, *image);
}

void DebuggedProgram::SetBreakpoints(std::uint64_t base, const std::string& name,
                                     const PeFile& image) {
  const bool is_of_system = name == kSystem;
  if (!is_of_system && !IsOneOf(name, kRuntimes)) return;
  image.ForEachSymbol([&](const PeFile::Symbol& symbol, bool is_exported) {
    const bool is_end = is_of_system ? symbol.name == kSystemsExit : IsOneOf(symbol.name, kExits);
    if (is_exported && is_end) SetBreakpoint(base + symbol.address, is_of_system);
  });
}

void DebuggedProgram::SetBreakpoint(std::uint64_t address, bool is_of_system) {
  Breakpoint& breakpoint = breakpoints_[address];
  if (breakpoint.is_set) return;
  auto* const at = reinterpret_cast<void*>(address);
  std::uint8_t original = 0;
  const bool is_read = ReadProcessMemory(handle(), at, &original, 1, nullptr) != 0;
  breakpoint = {
      .original = original,
      .is_set = is_read && WriteProcessMemory(handle(), at, &kBreakpointCode, 1, nullptr) != 0,
      .is_of_system = is_of_system};
  FlushInstructionCache(handle(), at, 1);
}

void DebuggedProgram::RemoveBreakpoints() {
  for (auto& [address, breakpoint] : breakpoints_) {
    if (!breakpoint.is_set) continue;
    auto* const at = reinterpret_cast<void*>(address);
    WriteProcessMemory(handle(), at, &breakpoint.original, 1, nullptr);
    FlushInstructionCache(handle(), at, 1);
    breakpoint.is_set = false;
  }
}

// Has the thread execute the instruction that the breakpoint stood in for.
bool DebuggedProgram::StepBack(DWORD thread, std::uint64_t address) const {
  const UniqueFd opened =
      OwnHandle(OpenThread(THREAD_GET_CONTEXT | THREAD_SET_CONTEXT, FALSE, thread));
  CONTEXT context{};
  context.ContextFlags = CONTEXT_CONTROL;
  if (!opened || !GetThreadContext(HandleOf(opened), &context)) return false;
  context.Rip = address;
  return SetThreadContext(HandleOf(opened), &context) != 0;
}

// Where a function begins, these hold what earlier calls left: a pointer there holds no block. The
// function's argument is in Rcx.
void DebuggedProgram::ForgetDeadRegisters(DWORD thread) const {
  const UniqueFd opened =
      OwnHandle(OpenThread(THREAD_GET_CONTEXT | THREAD_SET_CONTEXT, FALSE, thread));
  CONTEXT context{};
  context.ContextFlags = CONTEXT_INTEGER | CONTEXT_FLOATING_POINT;
  if (!opened || !GetThreadContext(HandleOf(opened), &context)) return;
  context.Rax = context.Rdx = context.R8 = context.R9 = context.R10 = context.R11 = 0;
  for (M128A* const number :
       {&context.Xmm0, &context.Xmm1, &context.Xmm2, &context.Xmm3, &context.Xmm4, &context.Xmm5}) {
    *number = {};
  }
  SetThreadContext(HandleOf(opened), &context);
}

}  // namespace leakgate
