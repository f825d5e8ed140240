#include "plugin/agent/record/pools.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <iterator>
#include <new>

#include "common/pool_places.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/record/pooled_memory.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/windows.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

constexpr std::uint32_t kSlotWords =
    static_cast<std::uint32_t>(kPoolSlotPlaces >> kGranuleShift) * kWordsPerGranule;

// A number that no pool has: several pools have had blocks there.
constexpr std::uint16_t kSeveralPools = 0xFFFF;
static_assert(kMaxPools <= kSeveralPools);
constexpr std::uint64_t kNoChunk = 1;  // known to be in none

// Memory of one area. All members but the first two are read and written without the lock; they
// are relaxed, since no other memory is read through them.
struct Area {
  std::uint64_t number;                  // its address / kPoolAreaBytes
  std::uint32_t index;                   // in the region
  std::atomic<std::uint32_t> planes{0};  // bits of those that have had blocks
  std::atomic<std::uint16_t> pool{0};    // that has had blocks there
  // Of each page: the pool that has had blocks there since the pool was last emptied; and where the
  // chunk begins in which such a block was.
  std::atomic<std::uint16_t> pool_of_page[kPoolPagesOfArea] = {};
  std::atomic<std::uint64_t> chunk_of_page[kPoolPagesOfArea] = {};

  [[nodiscard]] std::uint64_t begin() const { return number * kPoolAreaBytes; }
};

// The pages of an area in which a pool has had blocks since it was reset.
struct PageSet {
  Area* area;
  PageSet* next;
  std::uint64_t bits[(kPoolPagesOfArea + 63) / 64];
};

struct Pool {
  PageSet* pages;
  std::uint64_t object;               // what tells it apart, if is_of_object
  std::atomic<std::uint32_t> blocks;  // that are live; relaxed
  std::uint32_t next_free;            // of the numbers that may be given again
  bool is_free;
  bool is_of_object;
};

constexpr std::uint32_t kAreaSlots = 2 * kMaxPoolAreas;
constexpr std::uint32_t kContextSlots = 1U << 20;
constexpr std::uint32_t kPoolBits = std::bit_width(kMaxPools - 1);
static_assert(2 * kContextBits + kPoolBits <= 64);
constexpr std::uint32_t kObjectSlots = 4 * kMaxPools;
constexpr std::uint64_t kNoObject = 1;
static_assert(kAddressBits + kPoolBits < 64);

// What is mapped when there is a first pool. Only what is touched costs memory.
struct Tables {
  std::atomic<Area*> areas[kAreaSlots];  // by a hash of their numbers
  Pool pools[kMaxPools];
  // Which context stands for another one with a pool: both, and the pool, in one word; 0: none.
  std::atomic<std::uint64_t> contexts[kContextSlots];
  // The pools that an object tells apart, by a hash of its address: both in one word; 0: none;
  // kNoObject: there was one.
  std::atomic<std::uint64_t> objects[kObjectSlots];
  std::uint32_t objects_used;  // under the lock
  // Chunks that were long to find, the last ones.
  std::atomic<std::uint64_t> long_chunks[16];
  std::atomic<std::uint32_t> next_long_chunk;
};

// Memory for areas and sets of pages, which is kept from one region to the next.
struct Slab {
  Slab* next;
  static constexpr std::size_t kBytes = 1U << 20;
};

constinit SpinLock g_lock;
constinit std::atomic<Tables*> g_tables{nullptr};
// Under the lock:
constinit Slab* g_first_slab = nullptr;
constinit Slab* g_slab = nullptr;  // the one that is being filled
constinit std::size_t g_slab_used = 0;
constinit PageSet* g_free_sets = nullptr;
constinit std::uint32_t g_free_pool = 0;

std::uint64_t AddressOf(const void* block) { return reinterpret_cast<std::uint64_t>(block); }

Tables* MapTables() {
  Tables* tables = g_tables.load(std::memory_order_acquire);
  if (tables != nullptr) return tables;
  const SpinGuard guard(g_lock);
  tables = g_tables.load(std::memory_order_acquire);
  if (tables != nullptr) return tables;
  tables = static_cast<Tables*>(MapOwn(sizeof(Tables)));
  // Release pairs with the acquire of threads that have not mapped it.
  g_tables.store(tables, std::memory_order_release);
  return tables;
}

// Returns zeroed memory; nullptr if there is none. REQUIRES: the lock is held.
template <typename T>
T* Make() {
  constexpr std::size_t kAligned = (sizeof(T) + 15) & ~std::size_t{15};
  if (g_slab == nullptr || g_slab_used + kAligned > Slab::kBytes) {
    Slab* next = g_slab == nullptr ? g_first_slab : g_slab->next;
    if (next == nullptr) {
      next = static_cast<Slab*>(MapOwn(Slab::kBytes));
      if (next == nullptr) return nullptr;
      (g_slab == nullptr ? g_first_slab : g_slab->next) = next;
    }
    g_slab = next;
    g_slab_used = 16;
  }
  void* const memory = reinterpret_cast<char*>(g_slab) + g_slab_used;
  g_slab_used += kAligned;
  return new (memory) T{};
}

std::uint32_t HashOf(std::uint64_t value, std::uint32_t slots) {
  return static_cast<std::uint32_t>((value * 0x9E37'79B9'7F4A'7C15ULL) >> 40) % slots;
}

Area* FindArea(const Tables& tables, std::uint64_t number) {
  for (std::uint32_t i = HashOf(number, kAreaSlots);; i = (i + 1) % kAreaSlots) {
    Area* const area = tables.areas[i].load(std::memory_order_acquire);
    if (area == nullptr || area->number == number) return area;
  }
}

// Counts a drop and returns nullptr if there is no room.
Area* AreaAt(Tables& tables, std::uint64_t address) {
  const std::uint64_t number = address / kPoolAreaBytes;
  Area* area = FindArea(tables, number);
  if (area != nullptr) return area;
  const SpinGuard guard(g_lock);
  area = FindArea(tables, number);
  if (area != nullptr) return area;
  std::atomic<std::uint32_t>& count = g_region.header().pool_area_count;
  const std::uint32_t index = count.load(std::memory_order_relaxed);
  std::atomic<std::uint64_t>& entry = g_region.pool_areas()[index % kMaxPoolAreas];
  area = index < kMaxPoolAreas && MakeRoom(&entry, sizeof(entry)) ? Make<Area>() : nullptr;
  if (area == nullptr) {
    g_region.Drop(DropReason::kMapFull);
    return nullptr;
  }
  area->number = number;
  area->index = index;
  // Release: the runner acquires the count. It sees the entry before any block there.
  entry.store(number + 1, std::memory_order_relaxed);
  count.store(index + 1, std::memory_order_release);
  for (std::uint32_t i = HashOf(number, kAreaSlots);; i = (i + 1) % kAreaSlots) {
    if (tables.areas[i].load(std::memory_order_relaxed) != nullptr) continue;
    tables.areas[i].store(area, std::memory_order_release);
    return area;
  }
}

LiveMap::Slot FindSlot(const Area& area, std::uint64_t address) {
  return LiveMap::FindAligned(PlaceInArea(area.index, address - area.begin()));
}

std::uint32_t PageOf(const Area& area, std::uint64_t address) {
  return static_cast<std::uint32_t>((address - area.begin()) / kPoolPageBytes);
}

std::uint32_t PoolOf(LiveMap::Slot slot) {
  return g_region.contexts()[LiveMap::RestAt(slot).context].pool;
}

// Takes the block out of the map, unless another thread does so.
void Release(Recording recording, LiveMap::Slot slot) {
  const LiveRecord record = LiveMap::Read(slot);
  std::uint32_t start = slot[0].load(std::memory_order_relaxed);
  if (!IsLiveStart(start)) return;
  // Release, as in LiveMap::Clear.
  if (!slot[0].compare_exchange_strong(start, 0, std::memory_order_release)) return;
  CountFreed(recording, record);
  const std::uint32_t pool = g_region.contexts()[record.context].pool;
  g_tables.load(std::memory_order_relaxed)
      ->pools[pool]
      .blocks.fetch_sub(1, std::memory_order_relaxed);
  AddAsOwner(recording.thread().shard->pooled_bytes, 0 - record.size_bytes);
}

// Calls `use(slot, address)` for each live block in [begin, end) of the area.
template <typename Use>
void ForEachBlock(const Area& area, std::uint64_t begin, std::uint64_t end, const Use& use) {
  for (std::uint32_t planes = area.planes.load(std::memory_order_relaxed); planes != 0;
       planes &= planes - 1) {
    const auto plane = static_cast<std::uint64_t>(std::countr_zero(planes));
    // Areas begin at multiples of 16.
    std::uint64_t address = (begin & ~std::uint64_t{kPoolPlanes - 1}) + plane;
    if (address < begin) address += kPoolPlanes;
    if (address >= end) continue;
    LiveMap::Slot slot = FindSlot(area, address);
    for (; slot != nullptr && address < end; address += kPoolPlanes, slot += kSlotWords) {
      if (LiveMap::IsLiveAt(slot)) use(slot, address);
    }
  }
}

// A block that is freed may have been the chunk of another pool.
void ReleaseWithContent(Recording recording, const Area& area, LiveMap::Slot slot,
                        std::uint64_t address) {
  const std::uint64_t size_bytes = LiveMap::SizeAt(slot, LiveMap::RestAt(slot));
  Release(recording, slot);
  if (area.pool.load(std::memory_order_relaxed) == kSeveralPools) {
    FreePooledIn(recording, address, address + size_bytes);
  }
}

// Notes in `known` that the pool has blocks there. REQUIRES: the lock is held.
void NoteOwner(std::atomic<std::uint16_t>& known, std::uint32_t pool) {
  const std::uint16_t before = known.load(std::memory_order_relaxed);
  known.store(before == 0 || before == pool ? static_cast<std::uint16_t>(pool) : kSeveralPools,
              std::memory_order_relaxed);
}

// Calls `use(page)` for each page of the set, and notes of a page that was the pool's alone that it
// is nobody's. REQUIRES: the lock is held.
template <typename Use>
void ForEachPage(const PageSet& set, std::uint32_t pool, const Use& use) {
  for (std::uint32_t page = 0; page < kPoolPagesOfArea; ++page) {
    if ((set.bits[page / 64] >> (page % 64) & 1) == 0) continue;
    std::atomic<std::uint16_t>& known = set.area->pool_of_page[page];
    if (known.load(std::memory_order_relaxed) == pool) known.store(0, std::memory_order_relaxed);
    use(page);
  }
}

// Notes that the pool has a block in the page.
[[nodiscard]] bool NotePage(Tables& tables, Area& area, std::uint32_t page, std::uint32_t pool) {
  std::atomic<std::uint16_t>& known = area.pool_of_page[page];
  if (known.load(std::memory_order_relaxed) == pool) return true;
  const SpinGuard guard(g_lock);
  PageSet** link = &tables.pools[pool].pages;
  while (*link != nullptr && (*link)->area != &area) link = &(*link)->next;
  PageSet* set = *link;
  if (set == nullptr) {
    set = g_free_sets;
    if (set != nullptr) {
      g_free_sets = set->next;
      *set = {};
    } else {
      set = Make<PageSet>();
      if (set == nullptr) return false;
    }
    set->area = &area;
  } else {
    *link = set->next;
  }
  // The set that was used last comes first.
  set->next = tables.pools[pool].pages;
  tables.pools[pool].pages = set;
  set->bits[page / 64] |= std::uint64_t{1} << (page % 64);
  NoteOwner(known, pool);
  NoteOwner(area.pool, pool);
  return true;
}

bool IsInChunk(std::uint64_t chunk, std::uint64_t address) {
  const LiveMap::Slot slot = LiveMap::Find(chunk);
  return slot != nullptr && LiveMap::IsChunkAt(slot) &&
         address - chunk < LiveMap::SizeAt(slot, LiveMap::RestAt(slot));
}

void NoteChunk(Tables& tables, Area& area, std::uint32_t page, std::uint64_t address) {
  std::atomic<std::uint64_t>& known = area.chunk_of_page[page];
  const std::uint64_t chunk = known.load(std::memory_order_relaxed);
  if (chunk == kNoChunk || (chunk != 0 && IsInChunk(chunk, address))) return;
  for (const std::atomic<std::uint64_t>& last : tables.long_chunks) {
    const std::uint64_t candidate = last.load(std::memory_order_relaxed);
    if (candidate == 0 || !IsInChunk(candidate, address)) continue;
    return known.store(candidate, std::memory_order_relaxed);
  }
  constexpr std::uint64_t kFarthest = std::uint64_t{16} << 20;
  const std::uint64_t found = LiveMap::FindBegin(address, kFarthest);
  known.store(found == 0 ? kNoChunk : found, std::memory_order_relaxed);
  if (found == 0) return;
  const LiveMap::Slot slot = LiveMap::FindAligned(found);
  LiveMap::SetKind(slot, AsChunk(LiveMap::Read(slot).kind));
  if (address - found < kPoolPageBytes) return;
  const std::uint32_t next = tables.next_long_chunk.fetch_add(1, std::memory_order_relaxed);
  tables.long_chunks[next % std::size(tables.long_chunks)].store(found, std::memory_order_relaxed);
}

// Returns the context that differs from `context` in the pool alone. The thread is among what a
// context says, so no other thread asks for the same.
std::uint32_t ContextInPool(Tables& tables, std::uint32_t context, std::uint32_t pool) {
  constexpr std::uint32_t kMostProbes = 16;
  const std::uint64_t key = std::uint64_t{context} << kPoolBits | pool;
  const std::uint32_t first = HashOf(key, kContextSlots);
  std::atomic<std::uint64_t>* free = nullptr;
  for (std::uint32_t i = 0; i < kMostProbes && free == nullptr; ++i) {
    std::atomic<std::uint64_t>& slot = tables.contexts[(first + i) % kContextSlots];
    const std::uint64_t known = slot.load(std::memory_order_relaxed);
    if (known >> kContextBits == key && known != 0) return known & kContextMask;
    if (known == 0) free = &slot;
  }
  ContextRecord changed = g_region.contexts()[context];
  changed.pool = static_cast<std::uint16_t>(pool & (kMaxPools - 1));
  const std::uint32_t made = AddContext(changed);
  std::uint64_t none = 0;
  if (made != 0 && free != nullptr) {
    free->compare_exchange_strong(none, key << kContextBits | made, std::memory_order_relaxed);
  }
  return made;
}

bool IsPool(std::uint32_t pool) { return pool != 0 && pool < kMaxPools; }

// A fork child that has a region of its own uses pools that its parent has created: their numbers
// are not given again.
void ReserveNumber(std::uint32_t pool) {
  std::atomic<std::uint32_t>& count = g_region.header().pool_count;
  std::uint32_t known = count.load(std::memory_order_relaxed);
  while (known <= pool && MakeRoom(&g_region.pools()[pool], sizeof(PoolRecord)) &&
         !count.compare_exchange_weak(known, pool + 1, std::memory_order_release)) {
  }
}

// Frees the blocks of the pool. REQUIRES: the lock is held.
void Empty(Recording recording, Pool& pool, std::uint32_t number) {
  for (PageSet* set = pool.pages; set != nullptr; set = set->next) {
    const Area& area = *set->area;
    ForEachPage(*set, number, [&](std::uint32_t page) {
      const std::uint64_t begin = area.begin() + page * kPoolPageBytes;
      ForEachBlock(area, begin, begin + kPoolPageBytes,
                   [&](LiveMap::Slot slot, std::uint64_t address) {
                     if (PoolOf(slot) == number) ReleaseWithContent(recording, area, slot, address);
                   });
    });
    std::fill(std::begin(set->bits), std::end(set->bits), 0);
  }
}

template <typename Do>
void Record(const Do& act) {
  if (!IsTracing() || !CanRecord()) return;
  {
    const RecordingGuard guard;
    SettleWindows(guard);
    act(Recording(guard));
  }
  NoteUnsettled();
}

// Pools are often made again and again, so the last names are found again. REQUIRES: the lock is
// held.
TextRef NameOf(std::string_view name) {
  constexpr std::size_t kMostNameBytes = 256;
  static constinit TextRef last[8] = {};
  static constinit std::uint32_t next = 0;
  static constinit std::uint32_t span = 0;
  if (span != g_span) {
    span = g_span;
    for (TextRef& known : last) known = {};
  }
  name = name.substr(0, kMostNameBytes);
  for (const TextRef& known : last) {
    if (name == std::string_view(g_region.text() + known.offset, known.length)) return known;
  }
  return last[next++ % std::size(last)] =
             g_region.AddText(name.data(), static_cast<std::uint32_t>(name.size()));
}

// Returns whether there was one.
bool EmptyPool(std::uint32_t pool) {
  Tables* const tables = g_tables.load(std::memory_order_acquire);
  if (!IsPool(pool) || tables == nullptr) return false;
  Record([&](Recording recording) {
    const SpinGuard guard(g_lock);
    Empty(recording, tables->pools[pool], pool);
  });
  return true;
}

constexpr std::uint64_t kAddressMask = (1ULL << kAddressBits) - 1;

struct KnownObject {
  std::atomic<std::uint64_t>* slot = nullptr;
  std::uint32_t pool = 0;  // 0: no pool is known by the object
};

KnownObject FindObject(Tables& tables, std::uint64_t object) {
  for (std::uint32_t i = HashOf(object + 1, kObjectSlots), tries = 0; tries < kObjectSlots;
       i = (i + 1) % kObjectSlots, ++tries) {
    const std::uint64_t known = tables.objects[i].load(std::memory_order_relaxed);
    if (known == 0) return {};
    if (known == kNoObject || known >> kPoolBits != object) continue;
    return {&tables.objects[i], static_cast<std::uint32_t>(known) & (kMaxPools - 1)};
  }
  return {};
}

// REQUIRES: the lock is held; the object is not known; less than half of the slots are in use.
void AddObject(Tables& tables, std::uint64_t object, std::uint32_t pool) {
  std::uint32_t i = HashOf(object + 1, kObjectSlots);
  while (tables.objects[i].load(std::memory_order_relaxed) != 0) i = (i + 1) % kObjectSlots;
  tables.objects[i].store(object << kPoolBits | pool, std::memory_order_relaxed);
  ++tables.objects_used;
}

// Forgets which slots objects have had that are not known any more. A thread that looks meanwhile
// finds nothing, and looks again with the lock. REQUIRES: the lock is held.
void AddObjectsAgain(Tables& tables) {
  for (std::atomic<std::uint64_t>& known : tables.objects)
    known.store(0, std::memory_order_relaxed);
  tables.objects_used = 0;
  for (std::uint32_t pool = 1; pool < kMaxPools; ++pool) {
    if (tables.pools[pool].is_of_object) AddObject(tables, tables.pools[pool].object, pool);
  }
}

// Lets another pool have the number. REQUIRES: the lock is held; the pool has no blocks.
void GiveBack(Tables& tables, std::uint32_t number) {
  Pool& pool = tables.pools[number];
  if (pool.is_free || number >= g_region.header().pool_count.load(std::memory_order_relaxed))
    return;
  while (pool.pages != nullptr) {
    PageSet* const set = pool.pages;
    ForEachPage(*set, number, [](std::uint32_t) {});
    pool.pages = set->next;
    set->next = g_free_sets;
    g_free_sets = set;
  }
  if (pool.is_of_object) {
    const KnownObject known = FindObject(tables, pool.object);
    if (known.slot != nullptr) known.slot->store(kNoObject, std::memory_order_relaxed);
    pool.is_of_object = false;
  }
  pool.is_free = true;
  pool.next_free = g_free_pool;
  g_free_pool = number;
}

// Gives back the numbers of pools that an object tells apart, and that have no blocks: nobody may
// have told that the object is gone. REQUIRES: the lock is held.
void GiveBackUnused(Tables& tables) {
  for (std::uint32_t pool = 1; pool < kMaxPools; ++pool) {
    const bool is_unused = tables.pools[pool].is_of_object &&
                           tables.pools[pool].blocks.load(std::memory_order_relaxed) == 0;
    if (is_unused) GiveBack(tables, pool);
  }
}

// Returns 0 if there is none. REQUIRES: the lock is held.
std::uint32_t TakeNumber(Tables& tables) {
  const std::uint32_t again = g_free_pool;
  if (again != 0) {
    g_free_pool = tables.pools[again].next_free;
    tables.pools[again].is_free = false;
    return again;
  }
  std::atomic<std::uint32_t>& count = g_region.header().pool_count;
  const std::uint32_t number = std::max(count.load(std::memory_order_relaxed), 1U);
  if (number >= kMaxPools || !MakeRoom(&g_region.pools()[number], sizeof(PoolRecord))) return 0;
  count.store(number + 1, std::memory_order_release);
  return number;
}

// Returns the pool that the object tells apart, a new one if there is none yet; 0 if there are too
// many.
std::uint32_t PoolOfObject(Tables& tables, std::uint64_t object) {
  if (const std::uint32_t known = FindObject(tables, object).pool) return known;
  const SpinGuard guard(g_lock);
  if (tables.objects_used >= kObjectSlots / 2) AddObjectsAgain(tables);
  if (const std::uint32_t known = FindObject(tables, object).pool) return known;
  std::uint32_t number = TakeNumber(tables);
  if (number == 0) {
    GiveBackUnused(tables);
    number = TakeNumber(tables);
  }
  if (number == 0) return 0;
  tables.pools[number].object = object;
  tables.pools[number].is_of_object = true;
  AddObject(tables, object, number);
  g_region.pools()[number] = {};
  return number;
}

// Where a block of a pool is written, if there is one.
struct Place {
  const Area* area = nullptr;
  LiveMap::Slot slot = nullptr;  // nullptr: no block is live there
};

Place FindBlock(std::uint64_t address) {
  const Tables* const tables = g_tables.load(std::memory_order_acquire);
  if (address == 0 || tables == nullptr || !IsTracing()) return {};
  const Area* const area = FindArea(*tables, address / kPoolAreaBytes);
  const LiveMap::Slot slot = area == nullptr ? nullptr : FindSlot(*area, address);
  return slot != nullptr && LiveMap::IsLiveAt(slot) ? Place{area, slot} : Place{};
}

void FreeAt(const Place& place, std::uint64_t address) {
  Record([&](Recording recording) {
    ReleaseWithContent(recording, *place.area, place.slot, address);
  });
}

}  // namespace

std::uint32_t CreatePool(std::string_view name) {
  std::uint32_t number = 0;
  Record([&](Recording) {
    Tables* const tables = MapTables();
    const SpinGuard guard(g_lock);
    if (tables != nullptr) number = TakeNumber(*tables);
    if (number == 0) return g_region.Drop(DropReason::kPoolTableFull);
    g_region.pools()[number].name = NameOf(name);
  });
  return number;
}

void AllocateInPool(std::uint32_t pool, const void* block, std::size_t bytes,
                    const CallerFrame& caller) {
  if (!IsPool(pool) || block == nullptr || bytes == 0 || !IsTracing() || !CanRecord()) return;
  RunSlowPathCall();
  const RecordingGuard guard;
  const Recording recording = guard;
  ThreadState& thread = recording.thread();
  const std::uint32_t context = ContextNow(recording);
  Tables* const tables = MapTables();
  if (context == 0) return;
  const std::uint64_t address = WithoutTag(AddressOf(block));
  if (tables == nullptr || (address >> kAddressBits) != 0) {
    return g_region.Drop(tables == nullptr ? DropReason::kMapFull : DropReason::kAddressRange);
  }
  Area* const area = AreaAt(*tables, address);
  if (area == nullptr) return;
  const std::uint32_t page = PageOf(*area, address);
  const LiveMap::Slot slot = g_live_map.SlotFor(PlaceInArea(area->index, address - area->begin()));
  if (slot == nullptr) return;
  if (!NotePage(*tables, *area, page, pool)) return g_region.Drop(DropReason::kMapFull);
  const std::uint32_t plane = 1U << (address % kPoolPlanes);
  if ((area->planes.load(std::memory_order_relaxed) & plane) == 0) {
    area->planes.fetch_or(plane, std::memory_order_relaxed);
  }
  ReserveNumber(pool);
  NoteChunk(*tables, *area, page, address);
  const std::uint32_t of_pool = ContextInPool(*tables, context, pool);
  if (of_pool == 0) return;

  // What was there before is gone, although nobody has said so.
  if (LiveMap::IsLiveAt(slot)) Release(recording, slot);
  constexpr auto kNotTaken = static_cast<std::uint32_t>(UnwindEnd::kNotTaken);
  const std::uint32_t stack =
      TakesStacksOf(StackEventOf(AllocationKind::kPool)) ? StackAt(recording, caller) : kNotTaken;
  tables->pools[pool].blocks.fetch_add(1, std::memory_order_relaxed);
  LiveMap::Write(slot, {bytes, stack, of_pool, AllocationKind::kPool});
  AddAsOwner(thread.shard->pooled_bytes, bytes);
  if (CountAllocation(*thread.shard, bytes)) NotePeak(*thread.shard);
}

void FreeInPool(std::uint32_t pool, const void* block) {
  const std::uint64_t address = WithoutTag(AddressOf(block));
  const Place place = FindBlock(address);
  if (place.slot != nullptr && PoolOf(place.slot) == pool) FreeAt(place, address);
}

void ResetPool(std::uint32_t pool) { (void)EmptyPool(pool); }

void DestroyPool(std::uint32_t pool) {
  if (!EmptyPool(pool)) return;
  Tables* const tables = g_tables.load(std::memory_order_acquire);
  Record([&](Recording) {
    const SpinGuard guard(g_lock);
    GiveBack(*tables, pool);
  });
}

void AllocateInPoolOf(std::uint64_t object, const void* block, std::size_t bytes,
                      const CallerFrame& caller) {
  if (block == nullptr || bytes == 0 || !IsTracing()) return;
  std::uint32_t pool = 0;
  Record([&](Recording) {
    Tables* const tables = MapTables();
    if (tables != nullptr) pool = PoolOfObject(*tables, object & kAddressMask);
    if (pool == 0) g_region.Drop(DropReason::kPoolTableFull);
  });
  AllocateInPool(pool, block, bytes, caller);
}

void ResetPoolOf(std::uint64_t object, bool is_destroyed) {
  Tables* const tables = g_tables.load(std::memory_order_acquire);
  if (tables == nullptr) return;
  std::uint32_t pool = 0;
  Record([&](Recording) {
    const SpinGuard guard(g_lock);  // the table may be made anew
    pool = FindObject(*tables, object & kAddressMask).pool;
  });
  is_destroyed ? DestroyPool(pool) : ResetPool(pool);
}

bool HasPooled() { return g_region.header().pool_area_count.load(std::memory_order_relaxed) != 0; }

void FreePooled(const void* block) {
  const std::uint64_t address = WithoutTag(AddressOf(block));
  const Place place = FindBlock(address);
  if (place.slot != nullptr) FreeAt(place, address);
}

void FreePooledIn(Recording recording, std::uint64_t begin, std::uint64_t end) {
  const Tables* const tables = g_tables.load(std::memory_order_acquire);
  if (tables == nullptr || begin >= end) return;
  const auto free_in = [&](Area& area) {
    std::uint64_t from = std::max(begin, area.begin());
    const std::uint64_t to = std::min(end, area.begin() + kPoolAreaBytes);
    while (from < to) {
      const std::uint32_t page = PageOf(area, from);
      const std::uint64_t page_end = area.begin() + (page + 1) * kPoolPageBytes;
      area.chunk_of_page[page].store(0, std::memory_order_relaxed);
      if (area.pool_of_page[page].load(std::memory_order_relaxed) != 0) {
        ForEachBlock(area, from, std::min(page_end, to),
                     [&](LiveMap::Slot slot, std::uint64_t) { Release(recording, slot); });
      }
      from = page_end;
    }
  };
  const std::uint64_t first = begin / kPoolAreaBytes;
  const std::uint64_t last = (end - 1) / kPoolAreaBytes;
  if (last - first < kMaxPoolAreas) {
    for (std::uint64_t number = first; number <= last; ++number) {
      Area* const area = FindArea(*tables, number);
      if (area != nullptr) free_in(*area);
    }
    return;
  }
  for (const std::atomic<Area*>& known : tables->areas) {
    Area* const area = known.load(std::memory_order_acquire);
    if (area != nullptr && area->number >= first && area->number <= last) free_in(*area);
  }
}

void RestartPools() {
  g_lock.Reset();
  g_slab = nullptr;
  g_free_sets = nullptr;
  g_free_pool = 0;
  for (Slab* slab = g_first_slab; slab != nullptr;) {
    Slab* const next = slab->next;
    ClearPages(slab, Slab::kBytes);
    NoteOwnMemory(slab, Slab::kBytes);
    slab->next = next;
    slab = next;
  }
  Tables* const tables = g_tables.load(std::memory_order_relaxed);
  if (tables == nullptr) return;
  ClearPages(tables, sizeof(*tables));
  NoteOwnMemory(tables, sizeof(*tables));
}

}  // namespace leakgate::agent
