// The fixture heap_on_request: a program whose heap a test rules, to the block.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace leakgate::test {

// How somebody launches a program suspended.
enum class Suspended {
  kAtFirstInstruction,  // PTRACE_TRACEME, exec, PTRACE_DETACH with SIGSTOP
  kBeforeExec,          // a shell that stops itself, and then executes it in its own place
};

class HeapOnRequest {
 public:
  // Starts the program, without leakgate. Throws std::runtime_error if it does not start, as
  // the others.
  HeapOnRequest();
  // The same program, linked otherwise: the fixture of that name.
  struct Fixture {
    std::string name;
  };
  explicit HeapOnRequest(const Fixture& fixture);
  // The same program, from a copy of its file.
  struct File {
    std::string path;
  };
  explicit HeapOnRequest(const File& file);
  // Stopped by SIGSTOP, which its parent has been told of.
  explicit HeapOnRequest(Suspended suspended);
  // Starts a session, which traces the program by name, and the program below it.
  explicit HeapOnRequest(const std::string& session);
  // The same of another fixture that does what it is told, with options of the session's.
  struct InSession {
    std::string session;
    std::string fixture;  // its name, or the path of a copy
    std::vector<std::string> options{};
  };
  explicit HeapOnRequest(const InSession& started);
  // Starts `leakgate run OPTIONS -- COMMAND`; no command: the program. It may be a child's.
  struct Run {
    std::vector<std::string> options{};
    std::vector<std::string> command{};
  };
  explicit HeapOnRequest(const Run& run);
  ~HeapOnRequest();
  HeapOnRequest(const HeapOnRequest&) = delete;
  HeapOnRequest& operator=(const HeapOnRequest&) = delete;

  pid_t pid() const { return pid_; }
  // Of the run that it is below; 0: of none.
  pid_t run_pid() const { return run_pid_; }

  // Has a suspended program begin.
  void Resume();

  // Each returns once the program has done it.
  void Keep(int count, int bytes);
  void Drop(int count);
  // Any line, with its end, that the fixture can be told.
  void Do(const std::string& line);

  // What the C library says is in use, in bytes.
  std::size_t BytesInUse();
  // The same, as malloc_info has it.
  std::size_t BytesByMallocInfo();

  // Ends the program; its exit code, or the run's.
  int End();

 private:
  enum class StopAtExec { kNo, kYes };
  // The PID of what is started.
  pid_t Start(std::vector<std::string> command, StopAtExec stop = StopAtExec::kNo);
  void AwaitStop() const;
  void Send(const std::string& line) const;
  std::size_t Ask(const std::string& line);
  std::string AwaitLine();

  pid_t pid_ = -1;
  pid_t run_pid_ = 0;
  int input_ = -1;   // of the program
  int output_ = -1;  // likewise
};

}  // namespace leakgate::test
