// Whether the file of a module could be had. A plain value.
#pragma once

namespace leakgate {

// What is known of a module's file.
enum class ModuleFileState {
  kFound,
  kMissing,    // nowhere, or no file that can be read
  kOtherFile,  // at its path there is another build
};

}  // namespace leakgate
