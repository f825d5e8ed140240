#include "plugin/agent/linux/object_search.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/memory_maps.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

// Addresses where modules begin, in a ring: 0 for none. A module that no longer exists does no
// harm. Relaxed, like the values below: each is one word that is complete in itself.
constexpr std::uint32_t kMostBegins = 512;
constinit std::atomic<std::uint64_t> g_begins[kMostBegins] = {};
constinit std::atomic<std::uint32_t> g_next_begin{0};

// Pages that are in no module, such as code that the program makes itself. Each is in one of the
// two sets that its number determines, and is valid only in the generation in which it was looked
// up.
constexpr std::uint32_t kSetBits = 7;
constexpr std::uint32_t kGapsOfSet = 8;
constexpr std::uint32_t kGenerationBits = 28;
struct alignas(64) GapSet {
  std::atomic<std::uint64_t> gaps[kGapsOfSet];
};
constinit GapSet g_gap_sets[1U << kSetBits] = {};
constinit std::atomic<std::uint32_t> g_next_gap{0};
// A thread that runs code of a new module has gone through the loader after the generation was
// raised.
constinit std::atomic<std::uint64_t> g_gap_generation{1};

// Whether any system call may be made: a process may have forbidden itself some. Relaxed: the
// thread that forbids it is the one that must know.
constinit std::atomic<bool> g_may_call_all{true};

std::uint64_t PageOf(std::uint64_t address) { return address & ~(PageBytes() - 1); }

bool CanRead(std::uint64_t begin, std::uint64_t bytes) {
  if (bytes < sizeof(std::uint64_t) || begin + bytes < begin) return false;
  const std::uint64_t last = begin + bytes - sizeof(std::uint64_t);
  return IsReadable(begin) && (PageOf(last) == PageOf(begin) || IsReadable(last));
}

// Copies memory of this process, which another thread may unmap meanwhile. The kernel copies it,
// and fails if there is none. It may be unmapped because an examined module need not be the one
// that has the address.
bool Copy(std::uint64_t from, void* to, std::size_t bytes) {
  if (g_may_call_all.load(std::memory_order_relaxed)) {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(from), bytes};
    const long copied =
        RawSyscall(SYS_process_vm_readv, CurrentPid(), Word(&local), 1, Word(&remote), 1, 0);
    if (!IsError(copied) || copied == -EFAULT) return copied == static_cast<long>(bytes);
  }
  if (!CanRead(from, bytes)) return false;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return true;
}

// A module's segments, copied. Modules have a dozen.
struct Segments {
  static constexpr std::uint32_t kMost = 32;

  std::span<const Elf64_Phdr> all() const { return {copied, count}; }

  Elf64_Phdr copied[kMost];
  std::uint32_t count = 0;
};

bool ReadSegments(std::uint64_t begin, Segments& segments) {
  Elf64_Ehdr header;
  if (!Copy(begin, &header, sizeof(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum == 0 || header.e_phoff > PageBytes()) {
    return false;
  }
  segments.count = header.e_phnum < Segments::kMost ? header.e_phnum : Segments::kMost;
  return Copy(begin + header.e_phoff, segments.copied, segments.count * sizeof(Elf64_Phdr));
}

bool FindBias(std::span<const Elf64_Phdr> segments, std::uint64_t begin, std::uint64_t& bias) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || PageOf(segment.p_offset) != 0) continue;
    bias = begin - PageOf(segment.p_vaddr);
    return true;
  }
  return false;
}

// Returns nullptr if no loaded segment has the address.
const Elf64_Phdr* SegmentOf(std::span<const Elf64_Phdr> segments, std::uint64_t bias,
                            std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    const std::uint64_t begin = PageOf(bias + segment.p_vaddr);
    const std::uint64_t end = PageOf(bias + segment.p_vaddr + segment.p_memsz + PageBytes() - 1);
    if (segment.p_type == PT_LOAD && address >= begin && address < end) return &segment;
  }
  return nullptr;
}

// The module's frame descriptions are read only within the segment that has their header.
bool AreFramesReadable(std::span<const Elf64_Phdr> segments, std::uint64_t bias,
                       std::uint64_t header) {
  const Elf64_Phdr* const segment = SegmentOf(segments, bias, header);
  return segment != nullptr && CanRead(bias + segment->p_vaddr, segment->p_memsz) &&
         IsReadable(header);
}

enum class Found { kNoModule, kAnotherModule, kModule };

// Reads the module whose first mapping begins at `begin`, if it has `address`.
Found ReadObject(std::uint64_t begin, std::uint64_t address, LoadedObject& object) {
  Segments copied;
  std::uint64_t bias = 0;
  if (!ReadSegments(begin, copied) || !FindBias(copied.all(), begin, bias)) {
    return Found::kNoModule;
  }
  const std::span<const Elf64_Phdr> segments = copied.all();
  if (SegmentOf(segments, bias, address) == nullptr) return Found::kAnotherModule;
  object = {.begin = begin, .bias = bias};
  for (const Elf64_Phdr& segment : segments) {
    const std::uint64_t at = bias + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && at + segment.p_memsz > object.end) {
      object.end = at + segment.p_memsz;
    }
    if (segment.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const Elf64_Dyn*>(at);
    if (segment.p_type == PT_GNU_EH_FRAME && AreFramesReadable(segments, bias, at)) {
      object.frame_header = reinterpret_cast<const std::uint8_t*>(at);
    }
  }
  return Found::kModule;
}

void RememberBegin(std::uint64_t begin) {
  for (const std::atomic<std::uint64_t>& known : g_begins) {
    if (known.load(std::memory_order_relaxed) == begin) return;
  }
  const std::uint32_t at = g_next_begin.fetch_add(1, std::memory_order_relaxed) % kMostBegins;
  g_begins[at].store(begin, std::memory_order_relaxed);
}

// Returns the nearest begin that is not after `address`; nullptr if there is none.
std::atomic<std::uint64_t>* NearestBegin(std::uint64_t address) {
  std::atomic<std::uint64_t>* nearest = nullptr;
  std::uint64_t nearest_begin = 0;
  for (std::atomic<std::uint64_t>& known : g_begins) {
    const std::uint64_t begin = known.load(std::memory_order_relaxed);
    if (begin > address || begin <= nearest_begin) continue;
    nearest = &known;
    nearest_begin = begin;
  }
  return nearest;
}

// Searches from the nearest begin outwards, as in Candidates. A module that no longer exists is
// forgotten: it may have stood in the middle of another one.
bool SearchBegins(std::uint64_t address, LoadedObject& object) {
  constexpr int kMost = 8;
  std::uint64_t limit = address;
  for (int i = 0; i < kMost; ++i) {
    std::atomic<std::uint64_t>* const nearest = NearestBegin(limit);
    if (nearest == nullptr) return false;
    std::uint64_t begin = nearest->load(std::memory_order_relaxed);
    if (begin == 0 || begin > limit) continue;  // another thread has just rewritten it
    const Found found = ReadObject(begin, address, object);
    if (found == Found::kModule) return true;
    limit = begin - 1;
    if (found == Found::kNoModule) {
      nearest->compare_exchange_strong(begin, 0, std::memory_order_relaxed);
    }
  }
  return false;
}

// Both are in one word, so that two writers cannot mix the page of one with the generation of the
// other. Returns 0 for an address that is too high to have one.
std::uint64_t GapAt(std::uint64_t address, std::uint64_t generation) {
  const std::uint64_t page = address / PageBytes();
  if (page >> (64 - kGenerationBits) != 0) return 0;
  return page << kGenerationBits | (generation & ((1ULL << kGenerationBits) - 1));
}

// Neighbours, and pages that are a power of two apart, are in different sets. If there were one set
// for each page, one of them would be full long before the others, and its pages would be looked up
// again and again.
std::array<GapSet*, 2> SetsOf(std::uint64_t address) {
  const std::uint64_t hash = address / PageBytes() * 0x9e3779b97f4a7c15;
  return {&g_gap_sets[hash >> (64 - kSetBits)], &g_gap_sets[hash << kSetBits >> (64 - kSetBits)]};
}

bool IsInGap(std::uint64_t address) {
  const std::uint64_t gap = GapAt(address, g_gap_generation.load(std::memory_order_seq_cst));
  if (gap == 0) return false;
  for (const GapSet* const set : SetsOf(address)) {
    for (const std::atomic<std::uint64_t>& known : set->gaps) {
      if (known.load(std::memory_order_relaxed) == gap) return true;
    }
  }
  return false;
}

// `generation` was the present one before the list was read.
void RememberGap(std::uint64_t address, std::uint64_t generation) {
  const std::uint64_t gap = GapAt(address, generation);
  if (gap == 0) return;
  const std::array<GapSet*, 2> sets = SetsOf(address);
  for (GapSet* const set : sets) {
    for (std::atomic<std::uint64_t>& known : set->gaps) {
      const std::uint64_t differs = known.load(std::memory_order_relaxed) ^ gap;
      if (differs << (64 - kGenerationBits) == 0) continue;
      known.store(gap, std::memory_order_relaxed);  // replaces an entry that is no longer valid
      return;
    }
  }
  const std::uint32_t at = g_next_gap.fetch_add(1, std::memory_order_relaxed) % kGapsOfSet;
  sets[0]->gaps[at].store(gap, std::memory_order_relaxed);
}

// The places in the list where a module may begin: the last few that have been read.
class Candidates {
 public:
  void Add(std::uint64_t begin) { begins_[count_++ % kMost] = begin; }

  // Searches from the nearest outwards: files that are mapped as data may lie within a module.
  bool Find(std::uint64_t address, LoadedObject& object) const {
    for (std::uint32_t i = 0; i < kMost && i < count_; ++i) {
      const std::uint64_t begin = begins_[(count_ - 1 - i) % kMost];
      if (ReadObject(begin, address, object) == Found::kModule) return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kMost = 8;
  std::uint64_t begins_[kMost] = {};
  std::uint32_t count_ = 0;
};

// If a line is longer, the end of the path is cut off: only its existence matters.
constexpr std::size_t kLineBytes = 128;
constexpr std::size_t kReadBytes = 1024;

bool MayBegin(const MemoryMapping& mapping) {
  return mapping.offset == 0 && mapping.path != nullptr && (mapping.protection & PROT_READ) != 0;
}

bool SearchMaps(std::uint64_t address, LoadedObject& object) {
  const std::uint64_t generation = g_gap_generation.load(std::memory_order_seq_cst);
  char line[kLineBytes];
  char read[kReadBytes];
  MapsReader maps(line, read);
  Candidates candidates;
  for (MemoryMapping mapping; maps.Next(mapping);) {
    if (mapping.begin > address) return false;
    if (MayBegin(mapping)) candidates.Add(mapping.begin);
    if (address >= mapping.end) continue;
    if (!candidates.Find(address, object)) {
      RememberGap(address, generation);
      return false;
    }
    RememberBegin(object.begin);
    return true;
  }
  return false;
}

}  // namespace

bool ReadObjectAt(std::uint64_t begin, std::uint64_t address, LoadedObject& object) {
  return ReadObject(begin, address, object) == Found::kModule;
}

bool SearchObject(std::uint64_t address, LoadedObject& object) {
  if (IsInGap(address)) return false;
  if (SearchBegins(address, object)) return true;
  if (!IsReadable(address & ~(sizeof(std::uint64_t) - 1))) return false;
  return g_may_call_all.load(std::memory_order_relaxed) && SearchMaps(address, object);
}

void RememberObjects() {
  char line[kLineBytes];
  char read[kReadBytes];
  MapsReader maps(line, read);
  std::uint64_t begin = 0;
  for (MemoryMapping mapping; maps.Next(mapping);) {
    if (MayBegin(mapping)) begin = mapping.begin;
    const bool is_code = mapping.path != nullptr && (mapping.protection & PROT_EXEC) != 0;
    if (!is_code || begin == 0) continue;
    RememberBegin(begin);
    begin = 0;
  }
}

void RememberObjectsForGood() {
  if (!g_may_call_all.load(std::memory_order_relaxed)) return;
  RememberObjects();
  g_may_call_all.store(false, std::memory_order_relaxed);
}

void ForgetGaps() { g_gap_generation.fetch_add(1, std::memory_order_seq_cst); }

}  // namespace leakgate::agent
