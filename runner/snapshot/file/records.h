// Turns one record of a snapshot file into bytes, and back. Internal to this folder. Pure.
//
// A record may have more fields than are read here: a later leakgate has added them.
#pragma once

#include "runner/snapshot/file/coding.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate::snapshot_format {

// REQUIRES, as of Decode: `Record` is SnapshotFacts, SnapshotClosing, SnapshotModule,
// SnapshotWindow, SnapshotThread, SnapshotMapping or SnapshotFrees.
template <typename Record>
void Encode(const Record& record, ByteWriter& out);

// Returns false if the bytes are cut off, or hold a value that does not exist.
template <typename Record>
[[nodiscard]] bool Decode(ByteReader in, Record& record);

}  // namespace leakgate::snapshot_format
