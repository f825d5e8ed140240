#include "runner/symbols/kept_symbols.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>

namespace leakgate {
namespace {

// The format of a file: its header, entries sorted by kind and address, frames, texts. All numbers
// count from the begin of the table to which they refer.
struct Header {
  std::uint64_t checksum;  // of all that follows
  XXH128_canonical_t identity;
  std::uint32_t entries;
  std::uint32_t frames;
};
static_assert(sizeof(Header) == 32);

struct Entry {
  std::uint64_t address;
  std::uint32_t kind;
  std::uint32_t frame_count;
  std::uint32_t first_frame;
  std::uint32_t unused;
};
static_assert(sizeof(Entry) == 24);

struct Text {
  std::uint32_t begin;
  std::uint32_t size;
};

struct StoredFrame {
  Text function;
  Text file;
  Text called_function;
  std::int32_t line;
  std::uint8_t inlined;
  std::uint8_t calls_through_pointer;
  std::uint8_t wrapper;  // Wrapper, as its code shows it
  std::uint8_t unused;
};
static_assert(sizeof(StoredFrame) == 32);

XXH128_canonical_t HashOf(std::string_view identity) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(identity.data(), identity.size()));
  return hash;
}

// Covers everything after the checksum itself.
std::uint64_t ChecksumOf(std::string_view file) {
  file.remove_prefix(sizeof Header::checksum);
  return XXH3_64bits(file.data(), file.size());
}

// Puts the parts of a file together. Equal texts are stored once.
class FileWriter {
 public:
  void Add(KeptSymbols::Kind kind, std::uint64_t address, const std::vector<Frame>& frames) {
    entries_.push_back({address, static_cast<std::uint32_t>(kind),
                        static_cast<std::uint32_t>(frames.size()),
                        static_cast<std::uint32_t>(frames_.size()), 0});
    for (const Frame& frame : frames) {
      frames_.push_back({TextOf(frame.function), TextOf(frame.file), TextOf(frame.called_function),
                         frame.line, frame.inlined, frame.calls_through_pointer,
                         static_cast<std::uint8_t>(frame.wrapper), 0});
    }
  }

  [[nodiscard]] std::string Finish(std::string_view identity) const {
    Header header{0, HashOf(identity), static_cast<std::uint32_t>(entries_.size()),
                  static_cast<std::uint32_t>(frames_.size())};
    std::string file(sizeof header, '\0');
    Append(entries_, file);
    Append(frames_, file);
    file += texts_;
    std::memcpy(file.data(), &header, sizeof header);
    header.checksum = ChecksumOf(file);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

 private:
  template <typename Part>
  static void Append(const std::vector<Part>& parts, std::string& file) {
    file.append(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(Part));
  }

  Text TextOf(const std::string& text) {
    const auto [known, is_new] = known_.try_emplace(
        text,
        Text{static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(text.size())});
    if (is_new) texts_ += text;
    return known->second;
  }

  std::vector<Entry> entries_;
  std::vector<StoredFrame> frames_;
  std::string texts_;
  std::unordered_map<std::string, Text> known_;
};

}  // namespace

// A file's content, which is searched without being unpacked.
class KeptSymbols::Content {
 public:
  // Returns null if the bytes are not what was written for `identity`.
  static std::unique_ptr<const Content> Read(std::string bytes, std::string_view identity) {
    auto content = std::unique_ptr<Content>(new Content(std::move(bytes)));
    return content->IsSound(identity) ? std::move(content) : nullptr;
  }

  [[nodiscard]] std::optional<std::vector<Frame>> Find(Kind kind, std::uint64_t address) const {
    const auto key = std::pair(static_cast<std::uint32_t>(kind), address);
    const std::span<const Entry> entries = Entries();
    const auto found = std::lower_bound(entries.begin(), entries.end(), key,
                                        [](const Entry& entry, const auto& wanted) {
                                          return std::pair(entry.kind, entry.address) < wanted;
                                        });
    if (found == entries.end() || std::pair(found->kind, found->address) != key)
      return std::nullopt;
    return FramesOf(*found);
  }

  template <typename Use>
  void ForEach(Use use) const {
    for (const Entry& entry : Entries()) {
      use(static_cast<Kind>(entry.kind), entry.address, FramesOf(entry));
    }
  }

 private:
  explicit Content(std::string bytes) : bytes_(std::move(bytes)) {}

  bool IsSound(std::string_view identity) {
    Header header;
    if (bytes_.size() < sizeof header) return false;
    std::memcpy(&header, bytes_.data(), sizeof header);
    entry_count_ = header.entries;
    frame_count_ = header.frames;
    const XXH128_canonical_t wanted = HashOf(identity);
    return ChecksumOf(bytes_) == header.checksum && TextsBegin() <= bytes_.size() &&
           std::memcmp(&wanted, &header.identity, sizeof wanted) == 0;
  }

  // Allocated bytes are aligned for any type, and the sizes of the header and the entries keep
  // that.
  std::span<const Entry> Entries() const {
    return {reinterpret_cast<const Entry*>(bytes_.data() + sizeof(Header)), entry_count_};
  }
  std::span<const StoredFrame> Frames() const {
    return {reinterpret_cast<const StoredFrame*>(bytes_.data() + FramesBegin()), frame_count_};
  }
  std::size_t FramesBegin() const { return sizeof(Header) + entry_count_ * sizeof(Entry); }
  std::size_t TextsBegin() const { return FramesBegin() + frame_count_ * sizeof(StoredFrame); }

  std::string TextAt(const Text& text) const {
    const std::string_view texts = std::string_view(bytes_).substr(TextsBegin());
    return text.begin <= texts.size() ? std::string(texts.substr(text.begin, text.size))
                                      : std::string();
  }

  std::vector<Frame> FramesOf(const Entry& entry) const {
    std::vector<Frame> frames;
    const std::span<const StoredFrame> all = Frames();
    if (entry.first_frame > all.size()) return frames;
    const std::size_t count =
        std::min<std::size_t>(entry.frame_count, all.size() - entry.first_frame);
    for (const StoredFrame& stored : all.subspan(entry.first_frame, count)) {
      Frame& frame = frames.emplace_back();
      frame.function = TextAt(stored.function);
      frame.file = TextAt(stored.file);
      frame.called_function = TextAt(stored.called_function);
      frame.line = stored.line;
      frame.inlined = stored.inlined != 0;
      frame.calls_through_pointer = stored.calls_through_pointer != 0;
      const bool is_wrapper = stored.wrapper == static_cast<std::uint8_t>(Wrapper::kRecognised);
      if (is_wrapper) frame.wrapper = Wrapper::kRecognised;
    }
    return frames;
  }

  std::string bytes_;
  std::size_t entry_count_ = 0;
  std::size_t frame_count_ = 0;
};

KeptSymbols::KeptSymbols(std::string bytes, std::string identity)
    : identity_(std::move(identity)), content_(Content::Read(std::move(bytes), identity_)) {}
KeptSymbols::~KeptSymbols() = default;

std::optional<std::vector<Frame>> KeptSymbols::Find(Kind kind, std::uint64_t address) const {
  return content_ ? content_->Find(kind, address) : std::nullopt;
}

void KeptSymbols::Keep(Kind kind, std::uint64_t address, std::vector<Frame> frames) {
  added_.insert_or_assign(Key(kind, address), std::move(frames));
}

std::string KeptSymbols::Write(std::string latest, std::size_t most_bytes) const {
  const auto write = [this](const std::map<Key, std::vector<Frame>>& symbols) {
    FileWriter writer;
    for (const auto& [key, frames] : symbols) writer.Add(key.first, key.second, frames);
    return writer.Finish(identity_);
  };
  std::map<Key, std::vector<Frame>> all = added_;
  const auto other = Content::Read(std::move(latest), identity_);
  for (const Content* const content : {content_.get(), other.get()}) {
    if (content == nullptr) continue;
    content->ForEach([&](Kind kind, std::uint64_t address, std::vector<Frame> frames) {
      all.try_emplace(Key(kind, address), std::move(frames));
    });
  }
  std::string bytes = write(all);
  if (bytes.size() > most_bytes) bytes = write(added_);
  if (bytes.size() > most_bytes) bytes.clear();
  return bytes;
}

}  // namespace leakgate
