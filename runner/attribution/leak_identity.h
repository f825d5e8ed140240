// The texts by which the same leak is recognised in another run, another build or another process.
// They contain no lines and addresses, so they survive edits in the code above. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// For the baseline and the history: returns the functions from the innermost frame to the
// outermost one that is the user's, a line each, or those of the whole stack if none is.
[[nodiscard]] std::string SymbolicPath(const std::vector<Frame>& stack);

// Returns "test HttpTest.KeepAlive". All instances of a parameterised test are one, because a value
// that is added in front changes the numbers of the others. The program's window has no name, since
// binaries are renamed.
[[nodiscard]] std::string WindowIdentity(WindowKind kind, const std::string& name);

[[nodiscard]] std::string FreeErrorIdentity(const std::string& text,
                                            const std::vector<Frame>& freed_at);

// For code scanning services, which store it: returns 16 hexadecimal digits for the short names of
// the user's frames. `kind` distinguishes what happened at one call site.
[[nodiscard]] std::string SymbolicFingerprint(const std::string& kind,
                                              const std::vector<const Frame*>& user_frames);

// Returns the same for an issue that has no stack.
[[nodiscard]] std::string FingerprintOf(const std::vector<std::string>& texts);

// For comparing snapshots of two builds: returns `frame` without its line. A frame that has no
// function is named by its module, whose offsets move.
[[nodiscard]] Frame WithoutPosition(Frame frame);

}  // namespace leakgate
