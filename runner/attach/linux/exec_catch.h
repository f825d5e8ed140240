// The work of one user's worker for the holder of programs (exec_hold.h): it decides about programs
// that wait in their exec, and seizes the wanted ones by ptrace.
//
//   ExecQuestion and the file   from the holder: that thread waits
//   ExecAnswer                  to the holder: it may go on. Behind it a wanted thread is seized
//   its exec stops              PTRACE_EVENT_EXEC, at the first instruction: on_exec preloads the
//                               agent, and the program is let go. Its parent sees nothing of that
//
// Each answer wakes all held threads for a moment, and of one that is awake the kernel does not say
// what it has called. So no answer is sent as long as such a thread is asked about: they all sleep
// again, unless there is no processor for them. One that stays awake for too long is seized, and is
// decided about when its exec stops.
//
// While a thread is held, the kernel may have locked it, so that it cannot be seized. An alarm then
// answers its question, and mostly the thread is seized when its exec stops. This happens with
// interpreters of scripts on file systems whose programs are not held.
//
// What the worker reads may block it for ever; then the holder gives it up. The worker must not
// have the holder's fanotify group. Used in a process of its own with one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/process/process_image.h"

namespace leakgate {

struct ExecCall;

// The process names by which holders and their workers are recognised.
inline constexpr char kHolderName[] = "leakgate-holder";

struct ExecQuestion {
  std::uint64_t number = 0;
  std::int64_t tid = 0;
};
static_assert(sizeof(ExecQuestion) == 16);

// A message of another size is a notice for the holder's owner.
struct ExecAnswer {
  std::uint64_t number = 0;  // 0: it only shows that the worker makes progress
  std::uint32_t seized = 0;  // how many threads are seized
  std::uint32_t magic = 0x6c677863;
};
static_assert(sizeof(ExecAnswer) == 16);
inline constexpr std::size_t kMostExecNotice = std::size_t{1} << 17;

struct ExecCatchHandlers {
  // Returns whether a program with that file, or with that name, may be wanted.
  std::function<bool(const std::string& path, const std::string& first_argument)> may_be_wanted;
  // Returns whether such a program is to be enabled.
  std::function<bool(const ExecutedProgram& program)> is_wanted;
  // Enables a wanted program that its exec has just stopped.
  std::function<void(int pid, const ExecutedProgram& program)> on_exec;
  // Reports a wanted program that begins without having been stopped.
  std::function<void(int pid, const ExecutedProgram& program, std::string problem)> on_missed;
  // Reports that a program begins of which nobody knows whether it is wanted.
  std::function<void()> on_unseen;
};

class ExecCatch {
 public:
  // `holder` is the socket to the holder, and must outlive this object. Blocks SIGCHLD.
  ExecCatch(ExecCatchHandlers handlers, const UniqueFd& holder);

  // The descriptor is readable when a seized thread has stopped.
  int stopped_fd() const { return stopped_.get(); }
  // Returns after how many milliseconds Continue must be called; -1 if there is nothing to do.
  [[nodiscard]] int TimeToWaitMs() const;

  // `file` is the file that the thread executes.
  void Decide(const ExecQuestion& question, UniqueFd file);
  // Asks again about threads that were awake. Continues with all seized threads that have stopped,
  // and interrupts those that have not stopped for a long time.
  void Continue();

 private:
  using Clock = std::chrono::steady_clock;
  struct Postponed {
    ExecQuestion question;
    UniqueFd file;
    Clock::time_point since;
  };
  struct Seized {
    std::string script;  // empty if it executes none
    Clock::time_point since;
    bool is_interrupted = false;
  };
  struct DecidedScript {
    std::string interpreter;
    std::string named;  // the path as the call gave it
  };

  // Returns false if the thread is awake and `may_wait`: then nothing is decided.
  bool DecideCall(const ExecQuestion& question, const UniqueFd& file, bool may_wait);
  void DecideProgram(const ExecQuestion& question, const UniqueFd& file, const ExecCall& call);
  void AskAgain();
  // Reports a script that is wanted itself, while the interpreter that runs it, `program`, is not.
  // Does nothing if `path` is empty, or is not wanted.
  void ReportWantedScript(int tid, const std::string& path, const ExecutedProgram& program) const;
  // Notes a script whose thread was not seized.
  void NoteDecided(int tid, const ExecCall& call);
  bool IsOfDecidedScript(int tid, const std::string& path, const std::string& named);
  void Allow(const ExecQuestion& question);
  void SendAnswers();
  void Tell(std::uint64_t number) const;
  static bool IsGone(int tid, Seized& seized);
  // Returns why the thread could not be seized, if it was not. The text is empty if the thread has
  // ended in execve, so that no program begins.
  std::optional<std::string> Seize(const ExecQuestion& question) const;
  void OnStop(int tid, int status);
  void OnExec(int pid, int tid);
  // The thread's exec has failed, or was complete when the thread was seized: then the program
  // runs.
  void OnLate(int tid);
  void DetachThread(int tid);

  const ExecCatchHandlers handlers_;
  const UniqueFd& holder_;
  UniqueFd stopped_;  // a signalfd
  std::list<Postponed> postponed_;
  Clock::time_point asked_again_{};
  std::vector<std::uint64_t> allowed_;  // the numbers of questions whose answers are to be sent
  std::map<int, Seized> seized_;        // by thread
  std::map<int, DecidedScript> decided_scripts_;  // by thread
};

}  // namespace leakgate
