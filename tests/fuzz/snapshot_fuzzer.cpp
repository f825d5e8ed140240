// Any bytes as a snapshot file: an error or a snapshot, and nothing else. Built with
// Clang's libFuzzer and sanitizers; tests/fuzz/run builds it, and lets it run for a while.
//
// Random bytes do not get past the checksums, so the input is taken in three ways: as a whole file;
// as the plain texts of parts, which are given the right checksums; and as a bundle, if it begins
// so.
#include <cstdint>
#include <sstream>
#include <string>

#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/file/records.h"
#include "tests/fuzz/input_file.h"

namespace {

using namespace leakgate;
using namespace leakgate::snapshot_format;

// Uses what it is given, as every visitor may.
struct Uses {
  std::uint64_t nodes = kStackRootCount;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
};

SnapshotVisitor VisitorOf(Uses& uses) {
  SnapshotVisitor visitor;
  visitor.mapping = [](SnapshotMapping&& mapping) {
    const MappingPages& pages = mapping.pages;
    if (pages.resident_bytes > mapping.bytes || pages.swapped_bytes > mapping.bytes) {
      __builtin_trap();
    }
  };
  visitor.symbols = [](SnapshotSymbols&& symbols) {
    if (symbols.module == 0 || symbols.frames.size() > kMostFramesAtOneAddress) __builtin_trap();
  };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) {
    for (const SnapshotNode& node : nodes) {
      if (node.parent >= uses.nodes++) __builtin_trap();
    }
  };
  visitor.blocks = [&](std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) {
      if (block.stack >= uses.nodes) __builtin_trap();
      ++uses.blocks;
      uses.bytes += block.size_bytes;
    }
    return Expected<void>();
  };
  visitor.closing = [&](SnapshotClosing&& closing) {
    if (closing.blocks != uses.blocks || closing.bytes != uses.bytes) __builtin_trap();
  };
  return visitor;
}

void Check(const Expected<void>& read) {
  if (!read && read.error().message.empty()) __builtin_trap();
}

void Read(const std::string& file) {
  Uses uses;
  std::istringstream in(file);
  Check(ReadSnapshot(in, "fuzz", VisitorOf(uses)));
}

void ReadBundle(const std::filesystem::path& path) {
  if (!IsBundle(path)) return;
  (void)ManifestOf(path);
  const Expected<std::vector<std::string>> names = SnapshotsIn(path);
  if (!names) return Check(Unexpected(names.error()));
  for (std::size_t i = 0; i < names->size() && i < 4; ++i) {
    Uses uses;
    Check(ReadSnapshot(PathInBundle(path, (*names)[i]), VisitorOf(uses)));
  }
}

// Each part: its kind, its length in two bytes, its text.
std::string MadeOf(std::string_view input) {
  std::ostringstream out;
  PartWriter writer(out);
  ByteWriter facts;
  Encode(SnapshotFacts{}, facts);
  writer.Write(PartKind::kFacts, facts.bytes());
  while (input.size() >= 3) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(input[i]); };
    const std::size_t length = at(1) | (std::size_t{at(2)} << 8);
    const auto kind = static_cast<PartKind>(at(0) % 22);
    writer.Write(kind, input.substr(3, length));
    input.remove_prefix(std::min(3 + length, input.size()));
  }
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  Read(input);
  Read(MadeOf(input));
  if (input.starts_with("PK")) ReadBundle(fuzz::WriteInputFile(bytes, size));
  return 0;
}
