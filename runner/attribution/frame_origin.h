// Tells where the code of a frame comes from. Pure.
#pragma once

#include <string_view>

#include "runner/symbols/frame.h"

namespace leakgate {

enum class FrameOrigin {
  kUser,        // everything else, also frames of which nothing is known
  kAgent,       // leakgate's own
  kCLibrary,    // libc and what belongs to it, the dynamic loader, the vdso
  kCppRuntime,  // libstdc++, libgcc and the like; operator new and delete; std::, also if it is a
                // template compiled into the program
  kGoogleTest,  // testing::, as a library or compiled in
};

[[nodiscard]] FrameOrigin OriginOf(const Frame& frame);

// Tells by the file name of a module which library it is; returns kUser if it is none of these.
[[nodiscard]] FrameOrigin OriginOfModule(std::string_view path);

// Returns whether a module belongs to the C or C++ runtime. Its exported functions are enough to
// name its frames, so that a report is the same with and without the runtime's debug package.
[[nodiscard]] bool IsRuntimeModule(std::string_view path);

[[nodiscard]] bool IsLoader(std::string_view path);

// Returns "libgtest" for "/lib/libgtest.so.1.12.1", and "libc-2.31" for "/lib/libc-2.31.so"; an
// empty text for what is no library.
[[nodiscard]] std::string_view LibraryName(std::string_view path);

}  // namespace leakgate
