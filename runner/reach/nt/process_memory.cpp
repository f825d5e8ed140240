#include "runner/reach/nt/process_memory.h"

#include "runner/base/nt/win32.h"

// It needs <windows.h>.
#include <psapi.h>

#include <algorithm>

#include "common/pe_identity.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

bool IsReadable(DWORD protection) {
  return (protection & PAGE_GUARD) == 0 && (protection & PAGE_NOACCESS) == 0 &&
         (protection & 0xFF) != PAGE_EXECUTE;
}

bool IsWritable(DWORD protection) {
  constexpr DWORD kWritable =
      PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  return IsReadable(protection) && (protection & kWritable) != 0;
}

bool IsSystemFile(HANDLE process, const MEMORY_BASIC_INFORMATION& memory) {
  if (memory.Type != MEM_MAPPED || IsWritable(memory.Protect)) return false;
  wchar_t path[1024];
  const DWORD length = ::K32GetMappedFileNameW(process, memory.BaseAddress, path,
                                               static_cast<DWORD>(std::size(path)));
  return FoldedPath(Utf8Of({path, path + length})).find("/windows/") != std::string::npos;
}

MemoryKind KindOf(DWORD type) {
  if (type == MEM_IMAGE) return MemoryKind::kImage;
  return type == MEM_MAPPED ? MemoryKind::kMapped : MemoryKind::kPrivate;
}

}  // namespace

ImageHeaders::ImageHeaders(const ProcessMemory& memory, std::uint64_t image)
    : count_(memory.Read({image, image + sizeof bytes_}, bytes_)) {}

std::vector<MemoryRange> ProcessMemory::List() const {
  std::vector<MemoryRange> ranges;
  MEMORY_BASIC_INFORMATION facts{};
  for (std::uint64_t at = 0; ::VirtualQueryEx(process_, reinterpret_cast<void*>(at), &facts,
                                              sizeof facts) == sizeof facts;) {
    const auto begin = reinterpret_cast<std::uint64_t>(facts.BaseAddress);
    const std::uint64_t end = begin + facts.RegionSize;
    if (end <= at) break;
    at = end;
    if (facts.State != MEM_COMMIT) continue;
    ranges.push_back({.range = {begin, end},
                      .allocation = reinterpret_cast<std::uint64_t>(facts.AllocationBase),
                      .kind = KindOf(facts.Type),
                      .is_readable = IsReadable(facts.Protect),
                      .is_writable = IsWritable(facts.Protect),
                      .is_guard = (facts.Protect & PAGE_GUARD) != 0,
                      .is_system_file = IsSystemFile(process_, facts)});
  }
  return ranges;
}

std::vector<ImageModule> ProcessMemory::ListModules(const std::vector<MemoryRange>& ranges) const {
  std::vector<ImageModule> modules;
  for (const MemoryRange& range : ranges) {
    if (range.kind != MemoryKind::kImage) continue;
    if (!modules.empty() && modules.back().range.begin == range.allocation) {
      modules.back().range.end = range.range.end;
      continue;
    }
    wchar_t path[4096];
    const auto module = reinterpret_cast<HMODULE>(range.allocation);
    const DWORD length =
        ::K32GetModuleFileNameExW(process_, module, path, static_cast<DWORD>(std::size(path)));
    modules.push_back({{range.allocation, range.range.end},
                       WithSlashes(Utf8Of({path, path + length})),
                       DataOf(range.allocation)});
  }
  return modules;
}

std::vector<AddressRange> ProcessMemory::DataOf(std::uint64_t image) const {
  constexpr std::uint32_t kSectionBytes = 40;
  constexpr std::uint32_t kIsWritable = 0x8000'0000;
  const ImageHeaders read(*this, image);
  std::vector<AddressRange> data;
  const std::uint32_t header = pe::FindHeader(read);
  if (header == 0) return data;
  const std::uint32_t first = header + 24 + pe::HalfAt(read(header + 20, 2));
  const std::uint32_t sections = pe::HalfAt(read(header + 6, 2));
  for (std::uint32_t i = 0; i < sections; ++i) {
    const std::uint8_t* const section = read(first + i * kSectionBytes, kSectionBytes);
    if (section == nullptr) break;
    if ((pe::WordAt(section + 36) & kIsWritable) == 0) continue;
    const std::uint64_t begin = image + pe::WordAt(section + 12);
    data.push_back({begin, begin + pe::WordAt(section + 8)});
  }
  return data;
}

// A range that is read may have pages that cannot be.
std::uint64_t ProcessMemory::Read(AddressRange range, void* to) const {
  std::uint64_t done = 0;
  const std::uint64_t bytes = range.end - range.begin;
  while (done < bytes) {
    SIZE_T got = 0;
    const std::uint64_t at = range.begin + done;
    const BOOL is_whole = ::ReadProcessMemory(process_, reinterpret_cast<const void*>(at),
                                              static_cast<char*>(to) + done, bytes - done, &got);
    if (is_whole != 0) return bytes;
    // The rest is read page by page, up to the one that cannot be.
    const std::uint64_t page_end = std::min((at & ~(kPageBytes - 1)) + kPageBytes, range.end);
    if (::ReadProcessMemory(process_, reinterpret_cast<const void*>(at),
                            static_cast<char*>(to) + done, page_end - at, &got) == 0) {
      return done;
    }
    done += page_end - at;
  }
  return done;
}

void ProcessMemory::ForEachPart(AddressRange range,
                                const std::function<void(std::uint64_t, Words)>& use) const {
  constexpr std::uint64_t kMostBytes = 1U << 20;
  std::vector<std::uint64_t> words;
  range.begin = (range.begin + 7) & ~std::uint64_t{7};
  range.end &= ~std::uint64_t{7};
  while (range.begin < range.end) {
    const std::uint64_t end = std::min(range.begin + kMostBytes, range.end);
    words.resize((end - range.begin) / sizeof(std::uint64_t));
    const std::uint64_t got = Read({range.begin, end}, words.data()) & ~std::uint64_t{7};
    if (got != 0) use(range.begin, Words(words).first(got / sizeof(std::uint64_t)));
    range.begin = got == end - range.begin
                      ? end
                      : std::min(((range.begin + got) & ~(kPageBytes - 1)) + kPageBytes, end);
  }
}

ProcessMemory::Words ProcessMemory::InPieces(MemoryPieces& pieces, std::uint64_t begin,
                                             std::uint64_t end) const {
  return pieces.At(begin, end, [this](std::uint64_t piece, std::span<std::uint64_t> to) {
    std::fill(to.begin(), to.end(), 0);
    ForEachPart({piece, piece + to.size_bytes()}, [&](std::uint64_t address, Words words) {
      std::copy(words.begin(), words.end(), &to[(address - piece) / sizeof(std::uint64_t)]);
    });
  });
}

ProcessMemory::Words ProcessMemory::At(std::uint64_t begin, std::uint64_t end) {
  return InPieces(pieces_, begin, end);
}

ProcessMemory::Words ProcessMemory::InOrder(std::uint64_t begin, std::uint64_t end) {
  return InPieces(last_piece_, begin, end);
}

}  // namespace leakgate
