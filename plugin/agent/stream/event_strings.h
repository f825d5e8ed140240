// GoogleTest's own strings that hold an event while it is written. They are live at the boundary
// that the event reports, and are freed right after it. So they are first taken out of the live
// map: then the boundary is counted at the right moment, whatever is allocated or freed next.
#pragma once

#include <string_view>

#include "plugin/agent/record/recorder.h"

namespace leakgate::agent {

// Takes the strings that hold `event`, which is what GoogleTest writes, out of the live map.
// Returns false if there must be more of them than were found.
[[nodiscard]] bool ForgetEventStrings(Recording recording, std::string_view event);

}  // namespace leakgate::agent
