// How the runner reaches an agent in a process that already runs. The agent exports a variable,
// which the runner reads in the process's memory. The variable names functions, which the runner
// calls there on one of the process's own threads (runner/attach/linux/remote_calls.h).
//
//   kIdle ---- enable ----> kTracing ---- disable ----> kSwitchedOff ---- release ----> kIdle
//
// Between disable and release the region stays mapped, since a thread may still be recording. The
// runner calls release when it has seen that no thread is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace leakgate {

inline constexpr char kAttachSymbol[] = "leakgate_attach_point";
inline constexpr std::uint64_t kAttachMagic = 0x7461'6167'6b61'656cULL;

enum class AttachState : std::uint32_t {
  kUnready = 0,      // the agent has not started yet
  kIdle = 1,         // it does not trace: it was told to stay off, or has been released
  kTracing = 2,      // it traces, since the process began or since enable
  kSwitchedOff = 3,  // it was disabled, or failed to start, and has not been released yet
};

// The result of the last call.
enum class AttachOutcome : std::uint32_t {
  kNone = 0,
  kDone = 1,
  kWrongState = 2,     // the call is not allowed in this state
  kNoAnswer = 3,       // there is no runner at the control socket, or one of another user
  kToldToStayOff = 4,  // the runner gave no region
  kFailed = 5,         // the region's header says why
  kNotWritable = 6,    // a module's table of addresses could not be made writable
  kBusy = 7,           // of release: a thread is in the middle of recording
};

// The runner reads it while the thread is stopped on which it has made a call, which gives enough
// ordering.
struct AttachPoint {
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::atomic<std::uint32_t> state;  // AttachState
  // The process to which the state belongs: a fork child only inherits the words.
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint32_t> outcome;         // AttachOutcome
  std::atomic<std::int32_t> runner_pid;       // the runner that has made the region
  std::atomic<std::uint32_t> is_loaded_late;  // 1 if loaded into the running process
  // Addresses in modules' tables that the last call has changed.
  std::atomic<std::uint32_t> slots_changed;
  // Those of them that the dynamic linker may still resolve.
  std::atomic<std::uint32_t> slots_unresolved;
  void (*enable)(const char* control);  // the control socket's name
  void (*redirect_again)();             // for slots that the dynamic linker has resolved meanwhile
  void (*disable)();
  void (*release)();
};
static_assert(sizeof(AttachPoint) == 72);
static_assert(offsetof(AttachPoint, enable) == 40);

}  // namespace leakgate
