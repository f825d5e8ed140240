// What a thread is about to execute while the kernel holds it inside execve (exec_hold.h): the
// file, which the kernel has opened, and the arguments, which are still in the memory of the old
// program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/process/process_image.h"

namespace leakgate {

struct ExecCall {
  ExecutedProgram program;  // as it will run: for a script, its interpreter
  std::string script{};     // the script's file; empty if it is none
  std::string named{};      // the path as the call gave it; empty if it cannot be read
  // The thread does not sleep, so the kernel does not say what it has called: nothing of the call
  // could be read. Each answer to a program that waits wakes all others that wait, for a moment.
  bool is_running = false;
};

// `file` is an open descriptor of the file that the kernel has just opened for the thread. If the
// thread's memory cannot be read, the arguments are empty.
[[nodiscard]] ExecCall ReadExecCall(int tid, int file);

// Returns the path of an open file, even if the file has been deleted.
[[nodiscard]] std::string PathOfDescriptor(int file);

// The part of an exec call that is quick to read, and shows for most programs that they are not
// wanted.
struct ExecName {
  std::string path;            // the file
  std::string first_argument;  // by convention the name; empty if it cannot be read
  bool is_script = false;
  bool is_running = false;  // as in ExecCall
};
[[nodiscard]] ExecName ReadExecName(int tid, int file);

// A line such as "#!/usr/bin/python3 -u": the interpreter, and what follows it as one argument. The
// interpreter is empty if `begin` does not begin a script. Pure.
struct ScriptLine {
  std::string interpreter;
  std::string argument;
};
[[nodiscard]] ScriptLine ParseScriptLine(std::string_view begin);

}  // namespace leakgate
