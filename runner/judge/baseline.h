// What an earlier run found, so that a later one fails only for what is new.
//
// A finding is the same as an earlier one if its test and its symbolic path are:
// the functions of its stack, without lines, addresses and modules, so that it
// survives edits above it, rebuilds and other machines. Of the same path, more
// blocks than the baseline has are new, all of them: which of them was there
// before cannot be told.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "runner/judge/window_evidence.h"

namespace leakgate {

struct BaselineWindow {
  std::map<std::string, std::int64_t> blocks;  // by symbolic path: the most of any run
  std::map<std::string, std::int64_t> excess;  // by metric over its limit: likewise
  std::set<std::string> free_errors;           // by FreeErrorIdentity
};

struct Baseline {
  std::string path;                               // of the report, as typed
  std::map<std::string, BaselineWindow> windows;  // by WindowIdentity
};

// The functions from the innermost to the outermost that is the user's, a line each;
// the whole stack where none is.
[[nodiscard]] std::string SymbolicPath(const std::vector<Frame>& stack);

// "test HttpTest.KeepAlive"; the program's has no name, since binaries are renamed.
[[nodiscard]] std::string WindowIdentity(WindowKind kind, const std::string& name);

[[nodiscard]] std::string FreeErrorIdentity(const std::string& text,
                                            const std::vector<Frame>& freed_at);

// Before LeaveOpen: what is known needs no repetition. Says of each of the user's
// blocks whether it is known or new. No `baseline`, as of a window that it does not
// have: all are new.
void MarkKnown(const BaselineWindow* baseline, CallSites& sites, WindowEvidence& evidence);

// The same of what is not told by blocks.
void MarkKnown(const BaselineWindow* baseline, WindowResult& window);

}  // namespace leakgate
