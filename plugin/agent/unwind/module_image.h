// A module as it is mapped: where it is, what identifies its file, and how its frames are unwound.
#pragma once

#include <cstdint>

#include "common/system.h"
#include "plugin/agent/unwind/frame_info.h"

#include LEAKGATE_AGENT(memory_maps)

namespace leakgate::agent {

struct ModuleImage {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;  // added to the addresses in the file
  FrameSection section;
  const char* path = nullptr;  // nullptr if only PathOf knows it
  std::uint32_t path_length = 0;
  const std::uint8_t* build_id = nullptr;  // in the module; set by FindBuildId
  std::uint32_t build_id_length = 0;
};

// Fills in all but the identity. Returns false if `pc` is in no module. Takes no lock.
[[nodiscard]] bool FindModuleImage(std::uint64_t pc, ModuleImage& image);

void FindBuildId(ModuleImage& image);

// Returns the path of the file, in `buffer`. May take long.
[[nodiscard]] const char* PathOf(const ModuleImage& image, PathBuffer& buffer);

// Must be called when tracing begins, and when modules may have gone.
void LearnModules();
void ForgetMissingModules();

}  // namespace leakgate::agent
