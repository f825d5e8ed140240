#include "plugin/agent/api/boundary.h"

#include "plugin/agent/start/module_loading.h"
#include "plugin/agent/start/startup.h"

namespace leakgate::agent {

bool TraceAtBoundary() { return TraceIfForked(ForkOccasion::kBoundary); }

void PrepareBoundary() { RedirectPending(); }

bool MayHaveLostStatics() { return false; }

}  // namespace leakgate::agent
