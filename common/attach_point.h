// How the runner takes hold of an agent in a process that runs already: an exported
// variable of the agent's, which the runner reads in the process's memory, and the
// functions that it names, which the runner calls there on one of the process's own
// threads (runner/attach/linux/remote_call.h).
//
//   kIdle ---- enable ----> kTracing ---- disable ----> kSwitchedOff ---- release ----> kIdle
//
// Between disable and release the region stays mapped: a thread may still be in the
// middle of recording. The runner releases once it has seen that none is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace leakgate {

inline constexpr char kAttachSymbol[] = "leakgate_attach_point";
inline constexpr std::uint64_t kAttachMagic = 0x7461'6167'6b61'656cULL;

enum class AttachState : std::uint32_t {
  kUnready = 0,      // the agent has not started
  kIdle = 1,         // not tracing: told to stay off, or released
  kTracing = 2,      // since the process began, or since enable
  kSwitchedOff = 3,  // disabled, or failed to start; not released yet
};

// What became of the last call.
enum class AttachOutcome : std::uint32_t {
  kNone = 0,
  kDone = 1,
  kWrongState = 2,     // not the state that the call needs
  kNoAnswer = 3,       // no runner at the control socket, or one of another user
  kToldToStayOff = 4,  // the runner gave no region
  kFailed = 5,         // the region's header says why
  kNotWritable = 6,    // a module's table of addresses could not be made writable
  kBusy = 7,           // release: a thread is in the middle of recording
};

struct AttachPoint {
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::atomic<std::uint32_t> state;      // AttachState
  std::atomic<std::int32_t> pid;         // whose state it is: a fork child inherits the words only
  std::atomic<std::uint32_t> outcome;    // AttachOutcome
  std::atomic<std::int32_t> runner_pid;  // that the region is of
  std::atomic<std::uint32_t> is_loaded_late;    // 1: loaded into the running process
  std::atomic<std::uint32_t> slots_changed;     // by the last call: addresses in modules' tables
  std::atomic<std::uint32_t> slots_unresolved;  // of those: the dynamic linker might yet resolve
  void (*enable)(const char* control);          // the control socket's name
  void (*redirect_again)();  // slots that the dynamic linker has resolved meanwhile
  void (*disable)();
  void (*release)();
};
static_assert(sizeof(AttachPoint) == 72);
static_assert(offsetof(AttachPoint, enable) == 40);

}  // namespace leakgate
