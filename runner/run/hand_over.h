// How a suspended process gets what its agent needs.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"
#include "runner/host/control_server.h"
#include "runner/run/launcher.h"

namespace leakgate {

// Where the agent does not ask the control server by itself (nt), has the server answer for the
// process, and hands that the agent and its region. Called before it is resumed, which must not
// happen after an error.
[[nodiscard]] Expected<void> HandOver(ControlServer& server, const SuspendedProcess& process,
                                      const std::filesystem::path& agent);

}  // namespace leakgate
