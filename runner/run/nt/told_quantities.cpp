#include "runner/run/told_quantities.h"

namespace leakgate {

// Neither VirtualAlloc and MapViewOfFile nor handles are recorded.
bool IsTold(Quantity quantity) {
  return quantity != Quantity::kMapped && quantity != Quantity::kFileDescriptors;
}
bool FollowsProcesses() { return false; }
bool KnowsThreadStarts() { return false; }

}  // namespace leakgate
