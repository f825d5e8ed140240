// Finds out where the code of a frame comes from and whose it is: which frames are the user's own,
// and which component is charged with a block. A report shows the innermost of the user's frames
// first.
//
// Pure. When in doubt, a frame is the user's.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/symbols/frame.h"

namespace leakgate {

enum class FrameOrigin {
  kUser,        // everything else, also frames of which nothing is known
  kAgent,       // leakgate's own, and its headers', which are compiled into the program
  kCLibrary,    // libc and what belongs to it, the dynamic loader, the vdso
  kCppRuntime,  // libstdc++, libgcc and the like; operator new and delete; std::, also if it is a
                // template compiled into the program
  kGoogleTest,  // testing::, as a library or compiled in
  kOtherTestFramework,  // Catch2, doctest, Boost.Test, likewise
};

[[nodiscard]] FrameOrigin OriginOf(const Frame& frame);

// Returns the library that a module is, by its file name; kUser if it is none of these.
[[nodiscard]] FrameOrigin OriginOfModule(std::string_view path);

// Returns whether a module belongs to the C or C++ runtime. Its exported functions are enough to
// name its frames, so that a report is the same with and without the runtime's debug package.
[[nodiscard]] bool IsRuntimeModule(std::string_view path);

[[nodiscard]] bool IsLoader(std::string_view path);

// Returns whether a module is a program or a library of Windows, by its file name.
[[nodiscard]] bool IsProgramOfWindows(std::string_view path);

// Returns whether a frame is of the C library, as a library of its own or linked into a program of
// Windows. Likewise of the C++ runtime, with its templates in programs of Windows.
[[nodiscard]] bool IsOfCLibrary(const Frame& frame);
[[nodiscard]] bool IsOfCppRuntime(const Frame& frame);

// Returns "libgtest" for "/lib/libgtest.so.1.12.1", and "libc-2.31" for "/lib/libc-2.31.so"; an
// empty text for what is no library.
[[nodiscard]] std::string_view LibraryName(std::string_view path);

// Returns false for frames of the C and C++ runtime, of test frameworks and of leakgate's agent.
[[nodiscard]] bool IsUserFrame(const Frame& frame);

// Returns whether the frame is of a library that came with the system: of one of its headers, or of
// a module of which no line is known.
[[nodiscard]] bool IsOfSystemLibrary(const Frame& frame);

// Returns the index of the innermost frame of `stack` that is the user's and of no wrapper
// (wrappers.h), else of the innermost that is the user's; nullopt if none is. A library of the
// system is the user's only where no code but main and such libraries called it.
[[nodiscard]] std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack);

// Returns the budget file whose component has allocated, whichever test ran: the file that claims
// the innermost frame that any of `files` claims. Only the user's frames count, except those of
// wrappers. If several files claim that frame, the longest pattern that matches wins, and then the
// first file. If no frame is claimed, it is the file of the component `kUnowned`, or nullptr if
// there is none.
[[nodiscard]] const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                                        const std::vector<Frame>& stack);

}  // namespace leakgate
