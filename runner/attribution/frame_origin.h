// Where a frame's code comes from: what attribution tells apart. Pure.
#pragma once

#include <string_view>

#include "runner/symbols/frame.h"

namespace leakgate {

enum class FrameOrigin {
  kUser,        // everything else; also where nothing is known
  kAgent,       // leakgate's own
  kCLibrary,    // libc and what belongs to it, the dynamic loader, the vdso
  kCppRuntime,  // libstdc++, libgcc and their like; std:: also where it is a template compiled
                // into the program; operator new and delete
  kGoogleTest,  // testing::, as a library or compiled in
};

[[nodiscard]] FrameOrigin OriginOf(const Frame& frame);

// Which library a module is, by its file's name alone; kUser if none of those.
[[nodiscard]] FrameOrigin OriginOfModule(std::string_view path);

// Whether a module belongs to the C or C++ runtime: its frames are told apart by
// its exported functions, so that a report is the same with and without the
// runtime's debug package.
[[nodiscard]] bool IsRuntimeModule(std::string_view path);

// Whether a module is the dynamic loader.
[[nodiscard]] bool IsLoader(std::string_view path);

}  // namespace leakgate
