#include "runner/snapshot/file/read_snapshot.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <vector>

#include "runner/base/regular_file.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"

namespace leakgate {
namespace {

using snapshot_format::ByteReader;
using snapshot_format::Part;
using snapshot_format::PartKind;
using snapshot_format::PartReader;

// No address space has more, and all sums fit into a number.
constexpr std::uint64_t kMostRecordedBytes = 1ULL << 62;
constexpr const char* kDamagedRecord = "a record is damaged";

// The ids that the file has defined so far. They are below a limit.
class KnownIds {
 public:
  explicit KnownIds(std::uint32_t limit) : limit_(limit) {}

  // Returns false if the id is too large, or known already.
  bool Add(std::uint32_t id) {
    if (id == 0 || id >= limit_ || Has(id)) return false;
    if (id >= known_.size()) known_.resize(id + 1);
    return known_[id] = true;
  }
  bool Has(std::uint32_t id) const { return id < known_.size() && known_[id]; }
  bool HasOrNone(std::uint32_t id) const { return id == 0 || Has(id); }

 private:
  std::uint32_t limit_;
  std::vector<bool> known_;
};

}  // namespace

// Checks what the parts hold, and passes it to the visitor.
class SnapshotReader::Checks {
 public:
  Checks(std::istream& in, const std::string& name) : parts_(in, name) {}

  Expected<bool> ReadPart(const SnapshotVisitor& visitor) {
    if (!has_begun_) {
      if (const Expected<void> begins = parts_.ReadFirstLine(); !begins) {
        return Unexpected(begins.error());
      }
      has_begun_ = true;
    }
    const Expected<std::optional<Part>> part = parts_.Next();
    if (!part) return Unexpected(part.error());
    if (!*part && !is_closed_) return parts_.Broken("its end is missing");
    if (!*part) return false;
    if (is_closed_) return parts_.Broken("something follows its end");
    const Expected<void> used = Use(**part, visitor);
    if (!used) return Unexpected(used.error());
    return true;
  }

 private:
  Expected<void> Use(const Part& part, const SnapshotVisitor& visit) {
    const auto kind = static_cast<PartKind>(part.kind);
    if ((kind == PartKind::kFacts) == has_facts_) {
      return parts_.Broken(has_facts_ ? "its beginning is there twice"
                                      : "its beginning is missing");
    }
    switch (kind) {
      case PartKind::kFacts:
        return UseFacts(part.plain, visit);
      case PartKind::kModules:
        return UseRecords<SnapshotModule>(part.plain, visit.module);
      case PartKind::kStacks:
        return UseNodes(part.plain, visit);
      case PartKind::kWindows:
        return UseRecords<SnapshotWindow>(part.plain, visit.window);
      case PartKind::kThreads:
        return UseRecords<SnapshotThread>(part.plain, visit.thread);
      case PartKind::kBlocks:
        return UseBlocks(part.plain, visit);
      case PartKind::kMappings:
        return UseRecords<SnapshotMapping>(part.plain, visit.mapping);
      case PartKind::kFrees:
        return UseRecords<SnapshotFrees>(part.plain, visit.frees);
      case PartKind::kClosing:
        return UseClosing(part.plain, visit);
    }
    return {};  // a later leakgate has written it
  }

  Expected<void> UseFacts(std::string_view plain, const SnapshotVisitor& visit) {
    SnapshotFacts facts;
    if (!Decode(ByteReader(plain), facts)) return parts_.Broken(kDamagedRecord);
    if (facts.name.empty()) facts.name = facts.image;  // an earlier leakgate wrote no name
    has_facts_ = true;
    if (visit.facts) visit.facts(std::move(facts));
    return {};
  }

  template <typename Record, typename Visit>
  Expected<void> UseRecords(std::string_view plain, const Visit& visit) {
    for (ByteReader in(plain); !in.is_at_end();) {
      Record record;
      const std::string_view bytes = in.Text();
      if (!in.is_good() || !Decode(ByteReader(bytes), record)) {
        return parts_.Broken(kDamagedRecord);
      }
      if (!Accept(record)) return parts_.Broken("a record does not fit the others");
      text_bytes_ += bytes.size();
      if (text_bytes_ > snapshot_format::kMostTextInAll) return parts_.Broken("it names too much");
      if (visit) visit(std::move(record));
    }
    return {};
  }

  bool IsStack(std::uint32_t id) const { return id < next_node_; }

  bool Accept(const SnapshotModule& module) { return modules_.Add(module.id); }
  bool Accept(const SnapshotWindow& window) {
    return windows_.HasOrNone(window.parent) && windows_.Add(window.id);
  }
  bool Accept(const SnapshotThread& thread) {
    return threads_.HasOrNone(thread.parent) && windows_.HasOrNone(thread.birth_window) &&
           IsStack(thread.origin_stack) && threads_.Add(thread.id);
  }
  bool Accept(const SnapshotMapping& mapping) {
    mapping_bytes_ += mapping.bytes;
    // A mapping that moves to another owner while it is copied may be there twice.
    return ++mappings_ <= 2 * kMaxMappings && mapping.bytes <= kMostRecordedBytes &&
           mapping_bytes_ <= kMostRecordedBytes && IsStack(mapping.stack) &&
           windows_.HasOrNone(mapping.window) && threads_.HasOrNone(mapping.thread);
  }

  bool Accept(const SnapshotFrees& frees) {
    const bool fits = frees.bytes <= kMostRecordedBytes && frees.blocks <= kMostRecordedBytes;
    freed_bytes_ += frees.bytes;
    freed_blocks_ += frees.blocks;
    return fits && ++frees_ <= kMaxStackNodes && freed_bytes_ <= kMostRecordedBytes &&
           freed_blocks_ <= kMostRecordedBytes && IsStack(frees.stack);
  }

  Expected<void> UseNodes(std::string_view plain, const SnapshotVisitor& visit) {
    std::vector<SnapshotNode> nodes;
    std::uint64_t pc = 0;
    for (ByteReader in(plain); !in.is_at_end(); ++next_node_) {
      const std::uint64_t step = in.Number();
      const std::uint32_t module = in.Number32();
      pc += static_cast<std::uint64_t>(in.Signed());
      const bool fits = step > 0 && step <= next_node_ && modules_.HasOrNone(module) &&
                        next_node_ < kMaxStackNodes;
      if (!in.is_good() || !fits) return parts_.Broken("a stack is damaged");
      nodes.push_back({pc, next_node_ - static_cast<std::uint32_t>(step), module});
    }
    if (visit.nodes) visit.nodes(nodes);
    return {};
  }

  bool Fits(const LiveBlock& block) {
    bytes_ += block.size_bytes;
    const bool is_in_order = blocks_read_++ == 0 || block.address > last_address_;
    last_address_ = block.address;
    return is_in_order && block.size_bytes <= kMostRecordedBytes && bytes_ <= kMostRecordedBytes &&
           IsStack(block.stack) && windows_.HasOrNone(block.window) &&
           threads_.HasOrNone(block.thread);
  }

  Expected<void> UseBlocks(std::string_view plain, const SnapshotVisitor& visit) {
    bool fits = ReadBlockBatch(ByteReader(plain), blocks_);
    for (const LiveBlock& block : blocks_) fits = fits && Fits(block);
    if (!fits) return parts_.Broken("a block is damaged");
    return visit.blocks ? visit.blocks(blocks_) : Expected<void>();
  }

  Expected<void> UseClosing(std::string_view plain, const SnapshotVisitor& visit) {
    SnapshotClosing closing;
    if (!Decode(ByteReader(plain), closing)) return parts_.Broken(kDamagedRecord);
    if (closing.blocks != blocks_read_ || closing.bytes != bytes_ ||
        closing.mappings != mappings_) {
      return parts_.Broken("blocks are missing");
    }
    is_closed_ = true;
    if (visit.closing) visit.closing(std::move(closing));
    return {};
  }

  PartReader parts_;
  bool has_begun_ = false;
  bool has_facts_ = false;
  bool is_closed_ = false;
  KnownIds modules_{kMaxModules};
  KnownIds windows_{kMaxWindows};
  KnownIds threads_{kMaxThreads};
  std::uint32_t next_node_ = kStackRootCount;
  std::vector<LiveBlock> blocks_;
  std::uint64_t last_address_ = 0;
  std::uint64_t blocks_read_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t mappings_ = 0;
  std::uint64_t mapping_bytes_ = 0;
  std::uint64_t frees_ = 0;
  std::uint64_t freed_bytes_ = 0;
  std::uint64_t freed_blocks_ = 0;
  std::uint64_t text_bytes_ = 0;
};

SnapshotReader::SnapshotReader(std::istream& in, const std::string& name)
    : checks_(std::make_unique<Checks>(in, name)) {}
SnapshotReader::~SnapshotReader() = default;
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;

Expected<SnapshotReader> SnapshotReader::Open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return UsageError(fmt::format("{}: a directory; name a snapshot file in it", path.string()));
  }
  auto file = OpenRegularFile(path);
  if (!file) {
    return UsageError(fmt::format("{}: cannot be read: {}; name a snapshot file", path.string(),
                                  file.error().message()));
  }
  std::unique_ptr<std::istream> stream = MakeInputStream(*std::move(file));
  SnapshotReader reader(*stream, path.string());
  reader.file_ = std::move(stream);
  return reader;
}

Expected<bool> SnapshotReader::ReadPart(const SnapshotVisitor& visitor) {
  return checks_->ReadPart(visitor);
}

namespace {

Expected<void> ReadAll(SnapshotReader& reader, const SnapshotVisitor& visitor) {
  while (true) {
    const Expected<bool> read = reader.ReadPart(visitor);
    if (!read) return Unexpected(read.error());
    if (!*read) return {};
  }
}

}  // namespace

Expected<void> ReadSnapshot(std::istream& in, const std::string& name,
                            const SnapshotVisitor& visitor) {
  SnapshotReader reader(in, name);
  return ReadAll(reader, visitor);
}

Expected<void> ReadSnapshot(const std::filesystem::path& path, const SnapshotVisitor& visitor) {
  Expected<SnapshotReader> reader = SnapshotReader::Open(path);
  if (!reader) return Unexpected(reader.error());
  return ReadAll(*reader, visitor);
}

}  // namespace leakgate
