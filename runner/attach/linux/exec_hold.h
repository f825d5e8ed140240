// Holds every program of the machine that begins, decides about it, and lets it go on: wanted ones
// with the agent, from their first instruction, whoever starts them.
//
//   execve          the kernel opens the file, asks here (fanotify, FAN_OPEN_EXEC_PERM), and waits
//   wanted?         no: it is allowed to go on. Yes: ptrace seizes the thread, then it is allowed
//   its exec stops  PTRACE_EVENT_EXEC, at the first instruction: the agent is preloaded
//                   (program_begin.h), and the program is let go. Its parent sees nothing of that
//
// Whoever holds all programs can stop a machine, so nothing here waits for another process:
//
//   - The holder executes nothing, so it is never asked about itself. When it ends, however it
//   ends,
//     the kernel lets all go on that it had held, and whom ptrace had seized.
//   - A thread that cannot be seized while it is held, for the kernel has locked it, is allowed to
//   go
//     on by an alarm, and mostly seized when its exec stops. That is so of the interpreters of
//     scripts which nobody asked about, as they are of other file systems; before Linux 6.8, of
//     all.
//   - Whatever else keeps the holder, be it SIGSTOP, a debugger, or a file system that does not
//     answer: a timer of the kernel kills it after kMostSilence (KeepAlive).
//
// Used in a process of its own with one thread (runner/sessions/linux/exec_holder.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/process/process_image.h"

namespace leakgate {

struct ExecCall;

struct ExecHoldHandlers {
  // Returns whether a program of that file, or called by that name, may be wanted.
  std::function<bool(const std::string& path, const std::string& first_argument)> may_be_wanted;
  // Returns whether such a program is to be enabled.
  std::function<bool(const ExecutedProgram& program)> is_wanted;
  // Enables a wanted program that its exec has just stopped.
  std::function<void(int pid, const ExecutedProgram& program)> on_exec;
  // Tells that a wanted program begins without having been stopped.
  std::function<void(int pid, const ExecutedProgram& program, std::string problem)> on_missed;
};

class ExecHold {
 public:
  static constexpr std::chrono::seconds kMostSilence{3};
  // How often KeepAlive must be called at least.
  static constexpr std::chrono::milliseconds kMostPause{500};

  // By which the process of each holder is known.
  static constexpr char kProcessName[] = "leakgate-holder";

  // Fails, with the reason, if the kernel lets this process hold nothing.
  [[nodiscard]] static Expected<ExecHold> Open(ExecHoldHandlers handlers);

  // Readable when a program waits for an answer; a signalfd, readable when one that was seized has
  // stopped; and one on which poll tells an error when file systems have been mounted.
  int asked_fd() const { return asked_.get(); }
  int stopped_fd() const { return stopped_.get(); }
  int mounts_fd() const { return mounts_.get(); }

  // Watches the file systems that are mounted now, of the kinds that answer by themselves. In other
  // mount namespaces that is done whenever a program begins in there.
  void WatchFileSystems();
  // Answers all who wait.
  void Answer();
  // Goes on with all seized ones that have stopped, and interrupts those that have not for long.
  void Continue();
  bool IsAnySeized() const { return !seized_.empty(); }

  // Puts off the end of this process for kMostSilence.
  void KeepAlive() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seized {
    ExecutedProgram program;
    Clock::time_point since;
    bool is_interrupted = false;
  };

  struct DecidedScript {
    std::string interpreter;
    std::string named;  // as the call gave it
  };

  struct MountNamespace {
    UniqueFd mounts{};
    Clock::time_point used;
  };

  ExecHold() = default;
  void WatchFileSystemsOf(int pid) const;
  void LookIntoNamespace(int tid);
  void Decide(int tid, int file);
  // Notes a script whose thread was not seized.
  void NoteDecided(int tid, const ExecCall& call);
  bool IsOfDecidedScript(int tid, int file, const std::string& path);
  void Allow(int file) const;
  void IgnoreFile(int file) const;
  // Returns why the thread could not be seized, if it was not.
  std::optional<std::string> Seize(int tid, int file) const;
  void OnStop(int tid, int status);
  void OnExec(int pid, int tid);
  // The thread's exec has failed, or was over when it was seized: then the program runs.
  void OnLate(int tid);
  void LetGo(int tid);

  ExecHoldHandlers handlers_;
  UniqueFd asked_;
  UniqueFd stopped_;
  UniqueFd mounts_;
  void* timer_ = nullptr;
  std::uint64_t own_namespace_ = 0;
  std::map<std::uint64_t, MountNamespace> namespaces_;  // others, by their inode
  std::map<int, Seized> seized_;                        // by thread
  std::map<int, DecidedScript> decided_scripts_;        // by thread
};

}  // namespace leakgate
