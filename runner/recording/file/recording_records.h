// Encodes a recording's facts about itself, and decodes them. A record may have more fields than
// are read here: a later leakgate has added them. Internal to this folder.
#pragma once

#include "runner/recording/file/recorded_event.h"
#include "runner/snapshot/file/coding.h"

namespace leakgate::recording_format {

// These leave out the parts that snapshot files have, too: RecordingFacts::process,
// RecordingClosing::process.
void Encode(const RecordingFacts& facts, snapshot_format::ByteWriter& out);
void Encode(const RecordingClosing& closing, snapshot_format::ByteWriter& out);

// Return false if the bytes are cut off, or hold a value that does not exist.
[[nodiscard]] bool Decode(snapshot_format::ByteReader in, RecordingFacts& facts);
[[nodiscard]] bool Decode(snapshot_format::ByteReader in, RecordingClosing& closing);

}  // namespace leakgate::recording_format
