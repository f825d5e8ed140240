#include "runner/etw/nt/trace_calls.h"

namespace leakgate {

Expected<TraceCalls> SystemTraceCalls() { return LoadTraceCalls(FindControlLibrary()); }

}  // namespace leakgate
