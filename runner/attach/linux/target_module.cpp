#include "runner/attach/linux/target_module.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "runner/attach/linux/refusals.h"
#include "runner/base/descriptors.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// No real module has more. The memory may hold anything.
constexpr std::uint64_t kMostSymbols = 1U << 20;
constexpr std::uint64_t kMostNameBytes = 1U << 26;

template <typename T>
std::vector<T> ReadMany(const TargetMemory& memory, std::uint64_t address, std::uint64_t count) {
  std::vector<T> many(count);
  if (count != 0 && !memory.Read(address, many.data(), count * sizeof(T))) many.clear();
  return many;
}

// The entries of the dynamic section, by tag.
using Dynamic = std::map<std::int64_t, std::uint64_t>;

std::uint64_t ValueOf(const Dynamic& dynamic, std::int64_t tag) {
  const auto found = dynamic.find(tag);
  return found == dynamic.end() ? 0 : found->second;
}

Dynamic ReadDynamic(const TargetMemory& memory, std::uint64_t address, std::uint64_t bytes) {
  Dynamic dynamic;
  const std::uint64_t count = std::min<std::uint64_t>(bytes / sizeof(Elf64_Dyn), 512);
  for (const Elf64_Dyn& entry : ReadMany<Elf64_Dyn>(memory, address, count)) {
    if (entry.d_tag == DT_NULL) break;
    dynamic.emplace(entry.d_tag, entry.d_un.d_val);
  }
  return dynamic;
}

// GNU's hash table does not say how many symbols there are; the end of the last chain does.
std::uint64_t CountByGnuHash(const TargetMemory& memory, std::uint64_t table) {
  const std::vector<std::uint32_t> header = ReadMany<std::uint32_t>(memory, table, 4);
  if (header.empty() || header[0] > kMostSymbols || header[2] > kMostSymbols) return 0;
  const std::uint64_t buckets_at = table + 16 + std::uint64_t{header[2]} * 8;
  const std::vector<std::uint32_t> buckets = ReadMany<std::uint32_t>(memory, buckets_at, header[0]);
  if (buckets.empty()) return 0;
  std::uint64_t last = *std::max_element(buckets.begin(), buckets.end());
  if (last < header[1]) return 0;
  const std::uint64_t chains_at = buckets_at + std::uint64_t{header[0]} * 4;
  for (; last < kMostSymbols; ++last) {
    const auto chained = memory.Get<std::uint32_t>(chains_at + (last - header[1]) * 4);
    if (!chained || (*chained & 1) != 0) break;
  }
  return last + 1;
}

std::uint64_t CountBySysvHash(const TargetMemory& memory, std::uint64_t table) {
  const std::vector<std::uint32_t> header = ReadMany<std::uint32_t>(memory, table, 2);
  return header.empty() ? 0 : header[1];
}

}  // namespace

Expected<TargetMemory> TargetMemory::Open(int pid) {
  UniqueFd fd = OpenProcFile(pid, "mem", O_RDWR);
  if (!fd && (errno == EACCES || errno == EPERM)) return Unexpected(StopError(pid, EPERM));
  if (!fd && (errno == ENOENT || errno == ESRCH)) return EndedError(pid);
  if (!fd) {
    return InconclusiveError(
        fmt::format("cannot reach into the memory of PID {}: {}", pid, ErrnoText()));
  }
  return TargetMemory(pid, std::move(fd));
}

std::optional<Error> TargetMemory::WhyGone() const {
  if (HasNoMemory(pid_)) return EndedError(pid_).value();
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid_);
  if (!maps) return std::nullopt;  // this process may not see them
  const bool is_there = std::any_of(maps->begin(), maps->end(), [this](const MappedRange& range) {
    return range.is_readable && Get<char>(range.begin).has_value();
  });
  if (is_there) return std::nullopt;
  return Error{fmt::format("PID {} has executed another program meanwhile; try again", pid_)};
}

bool TargetMemory::Read(std::uint64_t address, void* to, std::size_t bytes) const {
  return ::pread(fd_.get(), to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

bool TargetMemory::Write(std::uint64_t address, const void* from, std::size_t bytes) const {
  return ::pwrite(fd_.get(), from, bytes, static_cast<off_t>(address)) ==
         static_cast<ssize_t>(bytes);
}

std::optional<TargetModule> TargetModule::Read(const TargetMemory& memory, std::uint64_t base,
                                               std::string_view only) {
  const auto header = memory.Get<Elf64_Ehdr>(base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phnum > 64 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  TargetModule module;
  std::optional<std::uint64_t> bias;
  Elf64_Phdr dynamic_at{};
  for (const Elf64_Phdr& segment :
       ReadMany<Elf64_Phdr>(memory, base + header->e_phoff, header->e_phnum)) {
    if (segment.p_type == PT_DYNAMIC) dynamic_at = segment;
    if (segment.p_type != PT_LOAD) continue;
    if (!bias) bias = base - segment.p_vaddr;
    module.end_ = std::max(module.end_, *bias + segment.p_vaddr + segment.p_memsz);
  }
  if (!bias || dynamic_at.p_memsz == 0) return std::nullopt;
  module.begin_ = base;

  const Dynamic dynamic = ReadDynamic(memory, *bias + dynamic_at.p_vaddr, dynamic_at.p_memsz);
  // The dynamic linker has added the bias already, the kernel has not.
  const auto address_of = [&](std::int64_t tag) {
    const std::uint64_t value = ValueOf(dynamic, tag);
    return value != 0 && value < base ? value + *bias : value;
  };
  std::uint64_t count = 0;
  if (address_of(DT_GNU_HASH) != 0) count = CountByGnuHash(memory, address_of(DT_GNU_HASH));
  if (count == 0 && address_of(DT_HASH) != 0) count = CountBySysvHash(memory, address_of(DT_HASH));
  const std::vector<Elf64_Sym> symbols =
      ReadMany<Elf64_Sym>(memory, address_of(DT_SYMTAB), std::min(count, kMostSymbols));
  const std::vector<char> names = ReadMany<char>(
      memory, address_of(DT_STRTAB), std::min(ValueOf(dynamic, DT_STRSZ), kMostNameBytes));
  for (const Elf64_Sym& symbol : symbols) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC) continue;
    const char* const text = &names[symbol.st_name];
    const std::string_view name(text, ::strnlen(text, names.size() - symbol.st_name));
    if (!only.empty() && name != only) continue;
    const std::uint64_t begin = *bias + symbol.st_value;
    module.symbols_.push_back({begin, begin + symbol.st_size, std::string(name)});
  }
  std::sort(module.symbols_.begin(), module.symbols_.end(),
            [](const ExportedSymbol& a, const ExportedSymbol& b) { return a.begin < b.begin; });
  return module;
}

std::uint64_t TargetModule::AddressOf(std::string_view name) const {
  const auto found =
      std::find_if(symbols_.begin(), symbols_.end(),
                   [name](const ExportedSymbol& symbol) { return symbol.name == name; });
  return found == symbols_.end() ? 0 : found->begin;
}

std::vector<std::string_view> TargetModule::NamesAt(std::uint64_t address) const {
  std::vector<std::string_view> names;
  const auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), address,
      [](std::uint64_t wanted, const ExportedSymbol& symbol) { return wanted < symbol.begin; });
  // Functions do not overlap, so what contains it begins where the nearest one does.
  for (auto at = after; at != symbols_.begin();) {
    --at;
    if (at->begin != (after - 1)->begin) break;
    if (address < at->end) names.push_back(at->name);
  }
  return names;
}

}  // namespace leakgate
