#include "runner/base/descriptors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/page_size.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kViewGranule = 64 << 10;  // where views may begin

// Commits a piece of a section that this process has read, and then has it read again.
LONG CALLBACK CommitWhatIsRead(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  const bool is_read = record.ExceptionCode == static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION) &&
                       record.NumberParameters == 2 && record.ExceptionInformation[0] == 0;
  if (!is_read) return EXCEPTION_CONTINUE_SEARCH;
  const auto piece = record.ExceptionInformation[1] / kViewGranule * kViewGranule;
  auto* const at = reinterpret_cast<void*>(piece);
  MEMORY_BASIC_INFORMATION facts;
  const bool is_section =
      ::VirtualQuery(at, &facts, sizeof(facts)) != 0 && facts.Type == MEM_MAPPED;
  return is_section &&
                 ::VirtualAlloc(at, kViewGranule, MEM_COMMIT, facts.AllocationProtect) != nullptr
             ? EXCEPTION_CONTINUE_EXECUTION
             : EXCEPTION_CONTINUE_SEARCH;
}

void CommitAsViewsAreRead() {
  constexpr ULONG kFirst = 1;
  static void* const handler = ::AddVectoredExceptionHandler(kFirst, CommitWhatIsRead);
  (void)handler;
}

}  // namespace

Expected<Mapping> Mapping::Map(const UniqueFd& fd, std::uint64_t offset, std::size_t bytes,
                               MappingAccess access) {
  CommitAsViewsAreRead();
  const DWORD rights = access == MappingAccess::kReadOnly ? FILE_MAP_READ : FILE_MAP_WRITE;
  const std::uint64_t first = offset / kViewGranule * kViewGranule;
  const auto before = static_cast<std::size_t>(offset - first);
  void* const view = MapViewOfFile(HandleOf(fd), rights, static_cast<DWORD>(first >> 32),
                                   static_cast<DWORD>(first), bytes + before);
  if (view == nullptr) {
    return InconclusiveError(
        fmt::format("cannot map {} bytes of the shared region: {}", bytes, WindowsErrorText()));
  }
  return Mapping(static_cast<std::byte*>(view) + before, bytes);
}

Mapping::~Mapping() {
  if (begin_ == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(begin_);
  UnmapViewOfFile(reinterpret_cast<void*>(address / kViewGranule * kViewGranule));
}

// The system takes pages of views away when it needs them.
void Mapping::ReleasePages() const {}

Mapping::Mapping(Mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

int OwnPid() { return static_cast<int>(GetCurrentProcessId()); }

// Users have no numbers here. The runner listens to processes of its own alone.
unsigned EffectiveUser() { return 1; }

std::optional<unsigned> FindUser(const std::string&) { return std::nullopt; }

// Of a section whose pages are committed as they are needed.
std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within) {
  const Expected<Mapping> view =
      Mapping::Map(fd, within.begin, static_cast<std::size_t>(within.end - within.begin),
                   MappingAccess::kReadOnly);
  if (!view) return {within};
  std::vector<FileRange> ranges;
  const std::byte* const begin = view->data();
  const std::byte* const end = begin + view->size();
  for (const std::byte* at = begin; at < end;) {
    MEMORY_BASIC_INFORMATION facts{};
    if (VirtualQuery(at, &facts, sizeof(facts)) == 0) return {within};
    const std::byte* const next =
        std::min(static_cast<const std::byte*>(facts.BaseAddress) + facts.RegionSize, end);
    if (facts.State == MEM_COMMIT) {
      ranges.push_back({within.begin + static_cast<std::uint64_t>(at - begin),
                        within.begin + static_cast<std::uint64_t>(next - begin)});
    }
    at = next;
  }
  return ranges;
}

std::FILE* OpenStdioFile(UniqueFd file, const char* mode) {
  const int fd = _open_osfhandle(reinterpret_cast<std::intptr_t>(HandleOf(file)), _O_BINARY);
  if (fd < 0) return nullptr;
  (void)file.Release();
  return _fdopen(fd, mode);
}

}  // namespace leakgate
