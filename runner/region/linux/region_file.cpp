#include "runner/region/region_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "runner/base/descriptors.h"
#include "runner/process/entry_hooks.h"

namespace leakgate {
namespace {

Expected<UniqueFd> CreateSealedMemory(std::uint64_t bytes) {
  UniqueFd fd(::memfd_create("leakgate", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return InconclusiveError(fmt::format("cannot create shared memory: {}", ErrnoText()));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return InconclusiveError(
        fmt::format("cannot size the shared memory: {}; raise the limit on file size (ulimit -f)",
                    ErrnoText()));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return InconclusiveError(fmt::format("cannot seal the shared memory: {}", ErrnoText()));
  }
  return fd;
}

}  // namespace

Expected<std::unique_ptr<RegionFile>> RegionFile::Create(const RegionOwner& owner) {
  LEAKGATE_TRY_ASSIGN(UniqueFd fd, CreateSealedMemory(region_offset::kEnd));

  std::unique_ptr<RegionFile> file(new RegionFile);
  file->pid_ = owner.pid;
  file->fd_ = std::move(fd);
  LEAKGATE_TRY_ASSIGN(Mapping writable, Mapping::Map(file->fd_, 0, region_offset::kWindows,
                                                     MappingAccess::kReadWrite));
  file->writable_ = std::move(writable);

  file->FillHeader(owner);
  // Without them, the agent misses its trial allocation, and says so.
  const Expected<std::unique_ptr<EntryHooks>> hooks = MakeEntryHooks(owner.pid, owner.named);
  if (hooks && *hooks != nullptr) {
    std::memcpy(file->writable_.data() + region_offset::kEntryHooks, hooks->get(),
                sizeof(EntryHooks));
  }

  LEAKGATE_TRY(EventBuffers::Ask(file->fd_, owner.events));
  LEAKGATE_TRY_ASSIGN(RegionReader reader, RegionReader::Attach(file->fd_));
  file->reader_ = std::make_unique<RegionReader>(std::move(reader));
  return file;
}

UniqueFd RegionFile::DuplicateFd() const {
  return UniqueFd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
}

std::uint64_t RegionFile::HeldBytes() const {
  constexpr std::uint64_t kBlock = 512;  // stat's unit, whatever the file system's is
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.st_blocks) * kBlock;
}

}  // namespace leakgate
