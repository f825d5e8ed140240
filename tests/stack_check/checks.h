// Where the checking agent writes what it finds: see check_file.h. Created at the
// first stack that is told.
#pragma once

#include "plugin/agent/unwind/stack_walker.h"
#include "tests/stack_check/check_file.h"
#include "tests/stack_check/comparison.h"

namespace leakgate::check {

// nullptr if LEAKGATE_STACK_CHECKS names no directory that can be written to.
CheckFile* Checks();

// Two comparisons of one told stack, by libunwind and by libgcc, the first of
// which found a difference.
struct Disagreement {
  const agent::CallerFrame& caller;
  std::uint32_t told_stack;
  const Comparison& by_libunwind;
  const Comparison& by_libgcc;
};

// Counts it at its place. True if the place is new enough to be written out in full.
[[nodiscard]] bool CountDisagreement(CheckFile& file, const Disagreement& disagreement);

// Writes lines for people. The file is opened for each.
class StackLog {
 public:
  StackLog();
  ~StackLog();
  StackLog(const StackLog&) = delete;
  StackLog& operator=(const StackLog&) = delete;

  void Say(const char* text);
  void SayPc(std::uint64_t pc);

 private:
  long descriptor_;
};

}  // namespace leakgate::check
