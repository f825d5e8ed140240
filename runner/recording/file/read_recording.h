// Reads a recording in one pass, in memory that does not grow with it.
//
// The file is not trusted: the checksum of each part and each value are checked before a visitor
// gets them, so that ids are below the region's limits and name things that it was given before.
#pragma once

#include <filesystem>
#include <istream>
#include <string>

#include "runner/base/expected.h"
#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// Reads the whole file. A file that was cut off, because the recorder was killed or the disk was
// full, is read as far as it goes (RecordingClosing::missing). Returns a usage error that names the
// file and the problem if it is no recording, or damaged; then the values that the visitor has
// received are of no use.
[[nodiscard]] Expected<void> ReadRecording(const std::filesystem::path& path,
                                           const RecordingVisitor& visitor);
// Reads all of `in`. Errors name it `name`.
[[nodiscard]] Expected<void> ReadRecording(std::istream& in, const std::string& name,
                                           const RecordingVisitor& visitor);

}  // namespace leakgate
