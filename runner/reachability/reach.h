// Whether anything still leads to a block.
#pragma once

namespace leakgate {

enum class Reach {
  kUnknown,         // could not be told, or was not asked
  kLost,            // nothing leads to it
  kIndirectlyLost,  // only lost blocks do
  kRetained,        // a root does, maybe by way of other blocks
};

}  // namespace leakgate
