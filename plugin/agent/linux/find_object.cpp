#include "plugin/agent/linux/find_object.h"

#include <sys/auxv.h>

#include <atomic>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/initial_stack.h"
#include "plugin/agent/linux/object_search.h"

#include LEAKGATE_ARCH(memory)

namespace {

// The result of glibc's dl_find_object, which its headers have since 2.35.
struct LoadersAnswer {
  unsigned long long flags;
  void* begin;
  void* end;
  const link_map* map;
  void* frame_header;
  unsigned long long reserved[7];
};
static_assert(sizeof(LoadersAnswer) == 96);

}  // namespace

// Weak: the agent can be loaded even if the C library has none.
extern "C" __attribute__((weak)) int LoaderFindObject(void* address,
                                                      void* answer) asm("_dl_find_object");

namespace leakgate::agent {
namespace {

// For a test with the agent that tests/stack_check builds: it uses the method that older C
// libraries need.
constexpr char kForced[] = "LEAKGATE_SEARCH_OBJECTS";

bool IsSearchForced() {
  if constexpr (!LEAKGATE_CHECKS_STACKS) return false;
  static constinit std::atomic<int> g_is_forced{-1};  // relaxed: all threads find the same value
  int is_forced = g_is_forced.load(std::memory_order_relaxed);
  if (is_forced < 0) {
    is_forced = InitialEnvironment(kForced) != nullptr ? 1 : 0;
    g_is_forced.store(is_forced, std::memory_order_relaxed);
  }
  return is_forced == 1;
}

// Linkers that align segments to pages larger than the kernel's leave pages between a module's
// segments. Then glibc returns the address's segment as if it were the whole module. The header is
// where addresses in the file begin, or, in a program at a fixed address, where its program headers
// are.
void CompleteFromHeader(std::uint64_t address, LoadedObject& object) {
  const link_map* const map = object.map;
  const std::uint64_t headers = ::getauxval(AT_PHDR);
  const std::uint64_t begin = object.bias != 0 ? object.bias : headers - headers % PageBytes();
  if (object.begin == begin) return;
  LoadedObject whole;
  if (!ReadObjectAt(begin, address, whole) || whole.bias != object.bias) return;
  object = whole;
  object.map = map;
}

}  // namespace

bool LoaderFindsObjects() { return &LoaderFindObject != nullptr && !IsSearchForced(); }

bool FindObject(const void* address, LoadedObject& object) {
  if (!LoaderFindsObjects()) {
    return SearchObject(reinterpret_cast<std::uint64_t>(address), object);
  }
  LoadersAnswer answer;
  if (LoaderFindObject(const_cast<void*>(address), &answer) != 0) return false;
  object = {.begin = reinterpret_cast<std::uint64_t>(answer.begin),
            .end = reinterpret_cast<std::uint64_t>(answer.end),
            .bias = answer.map->l_addr,
            .frame_header = static_cast<const std::uint8_t*>(answer.frame_header),
            .dynamic = answer.map->l_ld,
            .map = answer.map};
  if (object.begin != object.bias)
    CompleteFromHeader(reinterpret_cast<std::uint64_t>(address), object);
  return true;
}

void LearnObjects() {
  if (!LoaderFindsObjects()) RememberObjects();
}

void LearnObjectsForGood() {
  if (!LoaderFindsObjects()) RememberObjectsForGood();
}

void ForgetWhereNoObjectIs() {
  if (!LoaderFindsObjects()) ForgetGaps();
}

const link_map* FindLinkMap(const void* address) {
  LoadedObject object;
  if (!FindObject(address, object)) return nullptr;
  if (object.map != nullptr) return object.map;
  const link_map* map = FirstLinkMap();
  while (map != nullptr && map->l_ld != object.dynamic) map = map->l_next;
  return map;
}

const link_map* FirstLinkMap() { return _r_debug.r_map; }

}  // namespace leakgate::agent
