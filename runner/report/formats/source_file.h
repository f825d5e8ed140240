// Reads source files for a report that quotes them.
//
// Their names come from debug information or from somebody's report, so they may name any
// file of the machine. Only regular files are read that are called like sources: a page is
// passed on, and must not hold what its reader may not see.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runner/base/expected.h"
#include "runner/report/formats/source_excerpts.h"

namespace leakgate {

// The text of `file`, a path as debug information tells it. Nullopt for what is no
// regular file, is not called like a source once links are resolved, cannot be read or is
// too large. Only for reports of the run that this process itself has done.
[[nodiscard]] std::optional<std::string> ReadSourceFile(const std::string& file);

// Reads only files that are below `root` once links and ".." are resolved; relative names
// are of files there. A usage error if it is no directory.
[[nodiscard]] Expected<ReadSource> SourcesBelow(const std::filesystem::path& root);

}  // namespace leakgate
