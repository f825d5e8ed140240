// How far along a run or a merge is: where that is shown.
#pragma once

namespace leakgate {

enum class ProgressMode {
  kAuto,   // a bar or lines, where they are in nobody's way
  kBar,    // in the last row of the terminal, also while the program writes above it
  kLines,  // from time to time
  kNone,
};

}  // namespace leakgate
