// A section of the system's paging file, without a name. Tables that are small are committed here.
// The agent commits the others as they fill up, and chunks of the live map as the heap grows
// (common/nt/region_limits.h). Whatever the process claims to have written, whoever reads a table
// here finds memory: it is committed as it is read.
#include "runner/region/region_file.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

Expected<UniqueFd> CreateSection(std::uint64_t bytes) {
  UniqueFd section = OwnHandle(
      ::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE | SEC_RESERVE,
                           static_cast<DWORD>(bytes >> 32), static_cast<DWORD>(bytes), nullptr));
  if (!section) {
    return InconclusiveError(fmt::format("cannot create shared memory: {}", WindowsErrorText()));
  }
  return section;
}

// The tables that fill up, by their begins, and where each ends. Their first pieces are always
// there.
constexpr FileRange kGrowing[] = {
    {region_offset::kWindows, region_offset::kThreads},
    {region_offset::kThreads, region_offset::kShards},
    {region_offset::kContexts, region_offset::kModules},
    {region_offset::kText, region_offset::kAllowances},
    {region_offset::kAllowances, region_offset::kEarlierFrees},
    {region_offset::kEarlierFrees, region_offset::kFreeErrors},
    {region_offset::kMappings, region_offset::kMeasuringWindows},
    {region_offset::kMeasuringWindows, region_offset::kStacks},
    {region_offset::kStacks, region_offset::kFreedBy},
    {region_offset::kFreedBy, region_offset::kAllocatedBy},
    {region_offset::kAllocatedBy, region_offset::kEventControl},
    {region_offset::kDirectory, region_offset::kChunks},
};

// Memory of a section that has been committed stays so, without the view.
Expected<void> CommitTables(const UniqueFd& section) {
  LEAKGATE_TRY_ASSIGN(const Mapping tables,
                      Mapping::Map(section, 0, region_offset::kChunks, MappingAccess::kReadWrite));
  std::uint64_t at = 0;
  for (const FileRange& growing : kGrowing) {
    const std::uint64_t bytes = growing.begin + kMappingAlignment - at;
    if (::VirtualAlloc(tables.data() + at, bytes, MEM_COMMIT, PAGE_READWRITE) == nullptr) {
      return InconclusiveError(
          fmt::format("cannot commit {} bytes of shared memory: {}; close other programs, or let "
                      "the paging file grow",
                      bytes, WindowsErrorText()));
    }
    at = growing.end;
  }
  return {};
}

}  // namespace

Expected<std::unique_ptr<RegionFile>> RegionFile::Create(const RegionOwner& owner) {
  LEAKGATE_TRY_ASSIGN(UniqueFd section, CreateSection(region_offset::kEnd));
  LEAKGATE_TRY(CommitTables(section));

  std::unique_ptr<RegionFile> file(new RegionFile);
  file->pid_ = owner.pid;
  file->fd_ = std::move(section);
  LEAKGATE_TRY_ASSIGN(Mapping writable, Mapping::Map(file->fd_, 0, region_offset::kWindows,
                                                     MappingAccess::kReadWrite));
  file->writable_ = std::move(writable);
  file->FillHeader(owner);

  LEAKGATE_TRY(EventBuffers::Ask(file->fd_, owner.events));
  LEAKGATE_TRY_ASSIGN(RegionReader reader, RegionReader::Attach(file->fd_));
  file->reader_ = std::make_unique<RegionReader>(std::move(reader));
  return file;
}

UniqueFd RegionFile::DuplicateFd() const {
  HANDLE copy = nullptr;
  const HANDLE self = ::GetCurrentProcess();
  ::DuplicateHandle(self, HandleOf(fd_), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
  return OwnHandle(copy);
}

std::uint64_t RegionFile::HeldBytes() const {
  std::uint64_t held = 0;
  for (const FileRange& range : DataRanges(fd_, {0, region_offset::kEnd})) {
    held += range.end - range.begin;
  }
  return held;
}

}  // namespace leakgate
