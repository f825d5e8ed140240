#include "runner/results/baseline_index.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace leakgate {
namespace {

// The last letters count the versions of the format.
constexpr std::uint64_t kMagic = 0x33304C42474B4C00;

struct IndexHeader {
  std::uint64_t magic = kMagic;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t is_settled = 0;
  std::uint64_t hash[2] = {};
  std::uint64_t entry_count = 0;
  std::uint64_t check = 0;  // hash of what stands before
};
static_assert(sizeof(IndexHeader) == 88);

struct IndexEntry {
  std::uint64_t identity = 0;  // hash of the window's identity
  std::uint64_t offset = 0;    // of its text
  std::uint64_t size = 0;
  std::uint64_t text = 0;   // hash of the text
  std::uint64_t check = 0;  // hash of what stands before
};
static_assert(sizeof(IndexEntry) == 40);

// No window has as much: a report with so much of one is not taken apart.
constexpr std::uint64_t kMostTextBytes = 1ULL << 30;

std::uint64_t HashOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

template <typename Part>
std::uint64_t CheckOf(const Part& part) {
  return XXH3_64bits(&part, offsetof(Part, check));
}

template <typename Part>
std::string_view BytesOf(const Part& part) {
  return {reinterpret_cast<const char*>(&part), sizeof part};
}

// Returns nullopt if the part cannot be read, or is damaged.
template <typename Part>
std::optional<Part> ReadPart(const ReadIndexAt& read, std::uint64_t offset) {
  Part part;
  if (!read(offset, reinterpret_cast<char*>(&part), sizeof part)) return std::nullopt;
  if (part.check != CheckOf(part)) return std::nullopt;
  return part;
}

// Appends values, each text behind its length.
class IndexWriter {
 public:
  void Add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void Add(std::int64_t number) { Add(static_cast<std::uint64_t>(number)); }
  void Add(const std::string& text) {
    Add(std::uint64_t{text.size()});
    text_ += text;
  }
  void Add(const std::map<std::string, std::int64_t>& numbers) {
    Add(std::uint64_t{numbers.size()});
    for (const auto& [name, number] : numbers) {
      Add(name);
      Add(number);
    }
  }
  void Add(const std::map<Metric, std::int64_t>& numbers) {
    std::map<std::string, std::int64_t> by_name;
    for (const auto& [metric, number] : numbers) by_name.emplace(Word(metric), number);
    Add(by_name);
  }
  void Add(const std::set<std::string>& texts) {
    Add(std::uint64_t{texts.size()});
    for (const std::string& text : texts) Add(text);
  }
  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Takes them apart again. After a value that is not there it stays failed.
class IndexParser {
 public:
  explicit IndexParser(std::string_view text) : text_(text) {}

  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] bool is_at_end() const { return text_.empty(); }

  void Read(std::uint64_t& number) {
    const std::string_view bytes = Take(sizeof number);
    if (!has_failed_) std::memcpy(&number, bytes.data(), sizeof number);
  }
  void Read(std::int64_t& number) {
    std::uint64_t bits = 0;
    Read(bits);
    number = static_cast<std::int64_t>(bits);
  }
  void Read(std::string& text) {
    std::uint64_t size = 0;
    Read(size);
    text = Take(size);
  }
  void Read(std::map<std::string, std::int64_t>& numbers) {
    std::uint64_t count = 0;
    Read(count);
    for (; count != 0 && !has_failed_; --count) {
      std::string name;
      Read(name);
      Read(numbers[name]);
    }
  }
  void Read(std::map<Metric, std::int64_t>& numbers) {
    std::map<std::string, std::int64_t> by_name;
    Read(by_name);
    for (const auto& [name, number] : by_name) {
      const std::optional<Metric> metric = FromWord<Metric>(name);
      has_failed_ = has_failed_ || !metric;
      if (metric) numbers[*metric] = number;
    }
  }
  void Read(std::set<std::string>& texts) {
    std::uint64_t count = 0;
    Read(count);
    for (; count != 0 && !has_failed_; --count) {
      std::string text;
      Read(text);
      texts.insert(std::move(text));
    }
  }

 private:
  std::string_view Take(std::uint64_t size) {
    has_failed_ = has_failed_ || size > text_.size();
    if (has_failed_) return {};
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }

  std::string_view text_;
  bool has_failed_ = false;
};

// The identity comes first: two windows may have the same hash.
std::string WindowText(const std::string& identity, const BaselineWindow& window) {
  IndexWriter writer;
  writer.Add(identity);
  writer.Add(window.blocks);
  writer.Add(window.excess);
  writer.Add(window.free_errors);
  return writer.Take();
}

struct NamedWindow {
  std::string identity;
  BaselineWindow window;
};

std::optional<NamedWindow> ParseWindow(std::string_view text) {
  IndexParser parser(text);
  NamedWindow named;
  parser.Read(named.identity);
  parser.Read(named.window.blocks);
  parser.Read(named.window.excess);
  parser.Read(named.window.free_errors);
  if (parser.has_failed() || !parser.is_at_end()) return std::nullopt;
  return named;
}

std::uint64_t OffsetOf(std::uint64_t entry) {
  return sizeof(IndexHeader) + entry * sizeof(IndexEntry);
}

IndexHeader HeaderOf(const IndexedReport& report, std::uint64_t entries) {
  IndexHeader header;
  header.device = report.version.device;
  header.inode = report.version.inode;
  header.size = report.version.size;
  header.modified_ns = report.version.modified_ns;
  header.changed_ns = report.version.changed_ns;
  header.is_settled = report.is_settled ? 1 : 0;
  std::copy(report.hash.begin(), report.hash.end(), header.hash);
  header.entry_count = entries;
  header.check = CheckOf(header);
  return header;
}

}  // namespace

std::string IndexText(const IndexedReport& report, const BaselineWindows& windows) {
  std::vector<std::pair<IndexEntry, std::string>> parts;
  for (const auto& [identity, window] : windows) {
    if (window.empty()) continue;
    std::string text = WindowText(identity, window);
    IndexEntry entry;
    entry.identity = HashOf(identity);
    entry.size = text.size();
    entry.text = HashOf(text);
    parts.emplace_back(entry, std::move(text));
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first.identity < b.first.identity; });

  const IndexHeader header = HeaderOf(report, parts.size());
  std::string index(BytesOf(header));
  std::uint64_t offset = OffsetOf(parts.size());
  for (auto& [entry, text] : parts) {
    entry.offset = offset;
    offset += entry.size;
    entry.check = CheckOf(entry);
    index += BytesOf(entry);
  }
  for (const auto& [entry, text] : parts) index += text;
  return index;
}

std::string WithReport(std::string index, const IndexedReport& report) {
  const auto read = [&index](std::uint64_t offset, char* to, std::size_t size) {
    if (offset > index.size() || size > index.size() - offset) return false;
    std::memcpy(to, index.data() + offset, size);
    return true;
  };
  const std::optional<IndexHeader> old = ReadPart<IndexHeader>(read, 0);
  if (!old) return "";
  const IndexHeader header = HeaderOf(report, old->entry_count);
  return index.replace(0, sizeof header, BytesOf(header));
}

std::optional<BaselineIndex> BaselineIndex::Open(ReadIndexAt read) {
  const std::optional<IndexHeader> header = ReadPart<IndexHeader>(read, 0);
  if (!header || header->magic != kMagic) return std::nullopt;
  IndexedReport report;
  report.version = {header->device, header->inode, header->size, header->modified_ns,
                    header->changed_ns};
  report.is_settled = header->is_settled != 0;
  std::copy(std::begin(header->hash), std::end(header->hash), report.hash.begin());
  return BaselineIndex(std::move(read), report, header->entry_count);
}

std::optional<BaselineWindow> BaselineIndex::Read(const std::string& identity) const {
  const std::uint64_t wanted = HashOf(identity);
  std::uint64_t first = 0;  // the first entry whose hash is not below `wanted` is in [first, last]
  std::uint64_t last = count_;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const auto entry = ReadPart<IndexEntry>(read_, OffsetOf(middle));
    if (!entry) return std::nullopt;
    if (entry->identity < wanted) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  for (; first < count_; ++first) {
    const auto entry = ReadPart<IndexEntry>(read_, OffsetOf(first));
    if (!entry || entry->size > kMostTextBytes) return std::nullopt;
    if (entry->identity != wanted) break;
    std::string text(entry->size, '\0');
    if (!read_(entry->offset, text.data(), text.size())) return std::nullopt;
    if (HashOf(text) != entry->text) return std::nullopt;
    std::optional<NamedWindow> named = ParseWindow(text);
    if (!named) return std::nullopt;
    if (named->identity == identity) return std::move(named->window);
  }
  return BaselineWindow{};
}

}  // namespace leakgate
