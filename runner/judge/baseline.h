// What an earlier run found, so that a later one fails only for what is new.
//
// A finding is the same as an earlier one if its test and its symbolic path are:
// the functions of its stack, without lines, addresses and modules, so that it
// survives edits above it, rebuilds and other machines. If a path has more blocks
// than in the baseline, all of them are new: leakgate cannot tell which of them
// were there before.
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

// Returns the functions from the innermost one to the user's outermost one, a line each. If no
// function is the user's, it returns the whole stack.
[[nodiscard]] std::string SymbolicPath(const std::vector<Frame>& stack);

// Returns "test HttpTest.KeepAlive". That of the program has no name, since binaries are renamed.
[[nodiscard]] std::string WindowIdentity(WindowKind kind, const std::string& name);

[[nodiscard]] std::string FreeErrorIdentity(const std::string& text,
                                            const std::vector<Frame>& freed_at);

// Marks each of the user's blocks as known or new. If `baseline` is null, because it does not have
// the window, all are new. This comes before MarkUnconfirmed, since known blocks need no
// repetition.
void MarkKnownBlocks(const BaselineWindow* baseline, CallSites& sites, WindowEvidence& evidence);

// Marks the freeing errors in the same way, and notes which metrics the baseline excuses.
void ApplyBaseline(const BaselineWindow* baseline, WindowResult& window);

}  // namespace leakgate
