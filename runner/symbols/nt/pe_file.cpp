#include "runner/symbols/nt/pe_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "common/pe_identity.h"
#include "runner/base/file_version.h"
#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

using pe::HalfAt;
using pe::WordAt;

constexpr std::size_t kSymbolBytes = 18;
constexpr std::size_t kRuntimeFunctionBytes = 12;

std::uint64_t LongAt(const std::uint8_t* at) {
  return WordAt(at) | static_cast<std::uint64_t>(WordAt(at + 4)) << 32;
}

}  // namespace

std::string HexText(std::span<const std::uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::unique_ptr<PeFile> PeFile::Open(const std::string& path) {
  const std::filesystem::path name = PathOf(path);
  auto opened = OpenRegularFile(name);
  const std::optional<FileVersion> version = VersionOf(name);
  if (!opened || !version || version->size == 0) return nullptr;
  const UniqueFd section =
      OwnHandle(::CreateFileMappingW(HandleOf(*opened), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (!section) return nullptr;
  Expected<Mapping> mapping = Mapping::Map(section, 0, version->size, MappingAccess::kReadOnly);
  if (!mapping) return nullptr;
  auto file = std::unique_ptr<PeFile>(new PeFile);
  file->mapping_ = *std::move(mapping);
  file->file_ = {reinterpret_cast<const std::uint8_t*>(file->mapping_.data()),
                 file->mapping_.size()};
  return file->ReadHeaders() ? std::move(file) : nullptr;
}

PeFile::Bytes PeFile::InFile(std::uint64_t offset, std::size_t size) const {
  if (offset > file_.size() || file_.size() - offset < size) return {};
  return file_.subspan(offset, size);
}

bool PeFile::ReadHeaders() {
  constexpr std::size_t kMostHeaderBytes = 4096;
  sections_.push_back(
      {"", 0, file_.first(std::min(file_.size(), kMostHeaderBytes)), false});  // the headers
  const auto read = [this](std::uint32_t address, std::uint32_t size) {
    const Bytes bytes = At(address, size);
    return bytes.empty() ? nullptr : bytes.data();
  };
  const std::uint32_t begin = pe::FindHeader(read);
  if (begin == 0) return false;
  header_ = begin;
  const std::uint8_t* const header = read(begin, pe::kHeaderBytes);
  symbols_ = WordAt(header + 12);
  symbol_count_ = WordAt(header + 16);
  image_base_ = LongAt(header + 24 + 24);
  image_bytes_ = WordAt(header + 24 + 56);
  if (InFile(symbols_, symbol_count_ * kSymbolBytes).empty()) symbol_count_ = 0;
  ReadSections(begin);
  const PeIdentity identity = FindPeIdentity(read);
  has_pdb_ = identity.length == PeIdentity::kMostBytes;
  build_id_ = HexText({identity.bytes, identity.length});
  return true;
}

// The sum of all 16-bit words with their carries, and of the size, as the format has it.
bool PeFile::IsDamaged() const {
  const std::size_t place = header_ + 24 + 64;
  const std::uint32_t wanted = WordAt(&file_[place]);
  if (wanted == 0 || place % 4 != 0) return false;
  std::uint64_t sum = 0;
  const std::size_t whole = file_.size() / 4 * 4;
  for (std::size_t at = 0; at < whole; at += 4) sum += WordAt(&file_[at]);
  for (std::size_t at = whole; at < file_.size(); ++at) {
    sum += std::uint64_t{file_[at]} << 8 * (at - whole);
  }
  sum -= wanted;
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum + file_.size() != wanted;
}

void PeFile::ReadSections(std::uint32_t header) {
  constexpr std::uint32_t kSectionBytes = 40;
  constexpr std::uint32_t kIsCode = 0x20000020;  // has code, or may be executed
  const std::uint8_t* const fixed = file_.data() + header;
  const std::uint64_t first = header + 24 + HalfAt(fixed + 20);
  for (std::uint32_t i = 0; i < HalfAt(fixed + 6); ++i) {
    const Bytes bytes = InFile(first + i * std::uint64_t{kSectionBytes}, kSectionBytes);
    if (bytes.empty()) return;
    const std::uint8_t* const at = bytes.data();
    const std::uint32_t in_memory = WordAt(at + 8);
    std::uint32_t in_file = WordAt(at + 16);
    const std::uint32_t offset = WordAt(at + 20);
    if (in_memory != 0) in_file = std::min(in_file, in_memory);
    if (offset > file_.size()) in_file = 0;
    Section section;
    section.name = SymbolName(at);
    section.begin = WordAt(at + 12);
    section.is_code = (WordAt(at + 36) & kIsCode) != 0;
    if (in_file != 0) {
      section.bytes = file_.subspan(offset, std::min<std::size_t>(in_file, file_.size() - offset));
    }
    sections_.push_back(std::move(section));
  }
}

// Behind the symbols are the names that are longer than eight bytes.
std::string PeFile::LongName(std::uint32_t offset) const {
  const std::uint64_t names = symbols_ + symbol_count_ * std::uint64_t{kSymbolBytes};
  const Bytes rest = names + offset < file_.size() ? file_.subspan(names + offset) : Bytes();
  const auto end = std::find(rest.begin(), rest.end(), 0);
  return symbol_count_ == 0 || end == rest.end() ? std::string() : std::string(rest.begin(), end);
}

// A section's long name is "/123" instead.
std::string PeFile::SymbolName(const std::uint8_t* name) const {
  if (WordAt(name) == 0) return LongName(WordAt(name + 4));
  std::string text(name, std::find(name, name + 8, 0));
  std::uint32_t offset = 0;
  if (!text.starts_with('/')) return text;
  std::from_chars(text.data() + 1, text.data() + text.size(), offset);
  return LongName(offset);
}

PeFile::Bytes PeFile::At(std::uint64_t address, std::size_t size) const {
  for (const Section& section : sections_) {
    const std::uint64_t offset = address - section.begin;
    if (address < section.begin || offset > section.bytes.size()) continue;
    if (section.bytes.size() - offset >= size) return section.bytes.subspan(offset, size);
  }
  return {};
}

PeFile::Bytes PeFile::CodeAt(std::uint64_t address, std::size_t size) const {
  for (const Section& section : sections_) {
    const std::uint64_t offset = address - section.begin;
    if (!section.is_code || address < section.begin || offset > section.bytes.size()) continue;
    if (section.bytes.size() - offset >= size) return section.bytes.subspan(offset, size);
  }
  return {};
}

std::string PeFile::TextAt(std::uint64_t address) const {
  constexpr std::size_t kMostBytes = 4096;
  std::string text;
  for (; text.size() < kMostBytes; ++address) {
    const Bytes next = At(address, 1);
    if (next.empty()) return {};
    if (next.front() == 0) return text;
    text += static_cast<char>(next.front());
  }
  return {};
}

PeFile::Bytes PeFile::Contents(std::string_view section) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& it) { return it.name == section; });
  return found != sections_.end() ? found->bytes : Bytes();
}

std::optional<PeFile::Function> PeFile::FunctionAt(std::uint64_t address) const {
  constexpr int kMostParts = 32;
  constexpr std::uint8_t kIsPart = 4;  // UNW_FLAG_CHAININFO
  const auto read = [this](std::uint32_t at, std::uint32_t size) {
    const Bytes bytes = At(at, size);
    return bytes.empty() ? nullptr : bytes.data();
  };
  const pe::Directory table = pe::FindDirectory(read, pe::kExceptions);
  const std::size_t count = table.size / kRuntimeFunctionBytes;
  const Bytes entries = At(table.begin, count * kRuntimeFunctionBytes);
  if (entries.empty()) return std::nullopt;
  std::size_t first = 0;
  for (std::size_t size = count; size != 0;) {  // the first entry that begins behind `address`
    const std::size_t half = size / 2;
    if (WordAt(&entries[(first + half) * kRuntimeFunctionBytes]) <= address) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  if (first == 0) return std::nullopt;
  const std::uint8_t* entry = &entries[(first - 1) * kRuntimeFunctionBytes];
  Function function{WordAt(entry), WordAt(entry + 4), WordAt(entry)};
  if (address >= function.end) return std::nullopt;
  for (int parts = 0; parts < kMostParts; ++parts) {
    const std::uint32_t unwind = WordAt(entry + 8);
    const Bytes header = At(unwind, 4);
    if (header.empty() || (header[0] >> 3 & kIsPart) == 0) break;
    const std::uint32_t codes = (header[2] + 1U) & ~1U;
    const Bytes whole = At(unwind + 4 + codes * 2, kRuntimeFunctionBytes);
    if (whole.empty()) break;
    entry = whole.data();
    function.entry = WordAt(entry);
  }
  return function;
}

namespace {

// Sections have symbols, too: ".text$_ZN3net4PoolC1Ev". Of a library whose local symbols were
// removed, they are all that names a function.
std::string FunctionOfSection(std::string symbol) {
  for (const std::string_view prefix :
       {".text$", ".text.startup.", ".text.unlikely.", ".text.hot."}) {
    if (symbol.starts_with(prefix)) return symbol.substr(prefix.size());
  }
  return symbol;
}

}  // namespace

std::vector<PeFile::Symbol> PeFile::ReadSymbols() const {
  constexpr std::uint8_t kExternal = 2;
  constexpr std::uint8_t kStatic = 3;
  std::vector<Symbol> symbols;
  const Bytes table = InFile(symbols_, symbol_count_ * kSymbolBytes);
  for (std::size_t i = 0; i < symbol_count_ && !table.empty(); ++i) {
    const std::uint8_t* const at = &table[i * kSymbolBytes];
    const std::uint32_t section = HalfAt(at + 12);
    const std::uint8_t storage = at[16];
    i += at[17];  // what belongs to it
    const bool has_place = section != 0 && section < sections_.size();
    if (!has_place || (storage != kExternal && storage != kStatic)) continue;
    std::string name = FunctionOfSection(SymbolName(at));
    if (!name.empty() && !name.starts_with('.')) {
      symbols.push_back(
          {sections_[section].begin + std::uint64_t{WordAt(at + 8)}, std::move(name)});
    }
  }
  return symbols;
}

std::vector<PeFile::Symbol> PeFile::ReadExports() const {
  std::vector<Symbol> symbols;
  const auto read = [this](std::uint32_t at, std::uint32_t size) {
    const Bytes bytes = At(at, size);
    return bytes.empty() ? nullptr : bytes.data();
  };
  const pe::Directory table = pe::FindDirectory(read, pe::kExports);
  const Bytes header = At(table.begin, 40);
  if (table.begin == 0 || header.empty()) return symbols;
  const std::uint32_t function_count = WordAt(&header[20]);
  const std::uint32_t name_count = WordAt(&header[24]);
  const Bytes functions = At(WordAt(&header[28]), std::size_t{function_count} * 4);
  const Bytes names = At(WordAt(&header[32]), std::size_t{name_count} * 4);
  const Bytes ordinals = At(WordAt(&header[36]), std::size_t{name_count} * 2);
  if (functions.empty() || names.empty() || ordinals.empty()) return symbols;
  for (std::uint32_t i = 0; i < name_count; ++i) {
    const std::uint32_t ordinal = HalfAt(&ordinals[i * 2]);
    if (ordinal >= function_count) continue;
    const std::uint32_t address = WordAt(&functions[ordinal * 4]);
    const bool is_forwarded = address - table.begin < table.size;
    if (address != 0 && !is_forwarded) symbols.push_back({address, TextAt(WordAt(&names[i * 4]))});
  }
  return symbols;
}

std::unordered_map<std::uint64_t, std::string> PeFile::ReadImports() const {
  constexpr std::uint32_t kDescriptorBytes = 20;
  constexpr std::uint64_t kByNumber = std::uint64_t{1} << 63;
  constexpr std::uint32_t kMostLibraries = 4096;
  constexpr std::uint64_t kMostFunctions = 65536;
  std::unordered_map<std::uint64_t, std::string> names;
  const auto read = [this](std::uint32_t at, std::uint32_t size) {
    const Bytes bytes = At(at, size);
    return bytes.empty() ? nullptr : bytes.data();
  };
  const std::uint32_t table = pe::FindDirectory(read, pe::kImports).begin;
  for (std::uint32_t i = 0; table != 0 && i < kMostLibraries; ++i) {
    const Bytes library = At(table + std::uint64_t{i} * kDescriptorBytes, kDescriptorBytes);
    if (library.empty() || WordAt(&library[12]) == 0) break;
    const std::uint32_t slots = WordAt(&library[16]);
    const std::uint32_t lookups = WordAt(&library[0]) != 0 ? WordAt(&library[0]) : slots;
    for (std::uint64_t at = 0; at < kMostFunctions * 8; at += 8) {
      const Bytes lookup = At(lookups + at, 8);
      if (lookup.empty() || LongAt(lookup.data()) == 0) break;
      if ((LongAt(lookup.data()) & kByNumber) != 0) continue;
      names.emplace(slots + at, TextAt(LongAt(lookup.data()) + 2));  // behind a hint
    }
  }
  return names;
}

}  // namespace leakgate
