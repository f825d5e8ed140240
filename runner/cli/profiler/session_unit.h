// `leakgate session unit`: prints what has a session begin at boot, before a service, and keep its
// snapshots in a bounded ring: a systemd unit and a drop-in of the service, or a container's
// entrypoint.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/profiler/session_ring.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

enum class UnitPlace { kSystemd, kContainer };

struct SessionUnitCommand {
  std::string name;
  std::vector<ImageSelector> images;
  std::string service;  // that it begins before; empty: none
  UnitPlace place = UnitPlace::kSystemd;
  GivenRing ring;
  std::filesystem::path directory;  // to write the files into; empty: they are printed
};

void Declare(SessionUnitCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(SessionUnitCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const SessionUnitCommand& command);

// A file of the unit's, with its path below /etc/systemd/system.
struct UnitFile {
  std::filesystem::path path;
  std::string text;
};

// Returns the unit, and the drop-in if there is a service. Pure; `leakgate` is the program's path.
[[nodiscard]] std::vector<UnitFile> UnitFilesOf(const SessionUnitCommand& command,
                                                const std::filesystem::path& leakgate);

// Returns the shell script that is to be a container's entrypoint. Pure.
[[nodiscard]] std::string EntrypointOf(const SessionUnitCommand& command,
                                       const std::filesystem::path& leakgate);

}  // namespace leakgate
