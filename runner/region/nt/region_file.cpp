// A section of the system's paging file, without a name. All of its tables are committed here, so
// that whoever reads them finds memory, whatever the process claims. The agent commits the chunks
// of the live map as the heap grows (common/nt/region_limits.h).
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

// Memory of a section that has been committed stays so, without the view.
Expected<void> CommitTables(const UniqueFd& section) {
  LEAKGATE_TRY_ASSIGN(const Mapping tables,
                      Mapping::Map(section, 0, region_offset::kChunks, MappingAccess::kReadWrite));
  if (::VirtualAlloc(tables.data(), tables.size(), MEM_COMMIT, PAGE_READWRITE) == nullptr) {
    return InconclusiveError(
        fmt::format("cannot commit {} bytes of shared memory: {}; close other programs, or let the "
                    "paging file grow",
                    tables.size(), WindowsErrorText()));
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
  const auto& header = *reinterpret_cast<const RegionHeader*>(writable_.data());
  const std::uint64_t chunks = header.chunk_count.load(std::memory_order_relaxed);
  return region_offset::kChunks + std::min<std::uint64_t>(chunks, kMaxChunks) * kChunkBytes;
}

}  // namespace leakgate
