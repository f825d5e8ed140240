#include "runner/cli/system_needs.h"

namespace leakgate {

Expected<void> RequireSystem() { return {}; }

}  // namespace leakgate
