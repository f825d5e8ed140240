// One value of a snapshot file as bytes, and back. Internal to this folder. Pure.
//
// A record may have more fields than are read here: a later leakgate has added them.
#pragma once

#include "runner/snapshot/file/coding.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate::snapshot_format {

void Encode(const SnapshotFacts& facts, ByteWriter& out);
void Encode(const SnapshotClosing& closing, ByteWriter& out);
void Encode(const SnapshotModule& module, ByteWriter& out);
void Encode(const SnapshotWindow& window, ByteWriter& out);
void Encode(const SnapshotThread& thread, ByteWriter& out);
void Encode(const SnapshotMapping& mapping, ByteWriter& out);
void Encode(const SnapshotFrees& frees, ByteWriter& out);

// False if the record is broken: cut off, or a value is none that there is.
[[nodiscard]] bool Decode(ByteReader in, SnapshotFacts& facts);
[[nodiscard]] bool Decode(ByteReader in, SnapshotClosing& closing);
[[nodiscard]] bool Decode(ByteReader in, SnapshotModule& module);
[[nodiscard]] bool Decode(ByteReader in, SnapshotWindow& window);
[[nodiscard]] bool Decode(ByteReader in, SnapshotThread& thread);
[[nodiscard]] bool Decode(ByteReader in, SnapshotMapping& mapping);
[[nodiscard]] bool Decode(ByteReader in, SnapshotFrees& frees);

}  // namespace leakgate::snapshot_format
