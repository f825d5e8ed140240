#include "plugin/agent/stream/event_strings.h"

#include <cstdint>

#include "plugin/agent/record/live_map.h"
#include "plugin/agent/stream/stack_search.h"

namespace leakgate::agent {
namespace {

// GoogleTest builds an event piece by piece; each state of it begins with this.
constexpr std::size_t kShortestBegin = std::string_view("event=").size();

// In libstdc++'s older strings, these stand in front of the text: length, capacity, count of users.
constexpr std::uint64_t kOldHeaderBytes = 3 * sizeof(std::uint64_t);

// The live map has only blocks that begin at multiples of this.
constexpr std::uint64_t kBlockAlignment = 16;
static_assert(kOldHeaderBytes % kBlockAlignment != 0);

// The kernel maps nothing below this, so small numbers, of which the stack has many, are not
// addresses.
constexpr std::uint64_t kLowestText = 4096;

// A text in a block, up to the block's end.
struct BlockText {
  LiveMap::Slot slot = nullptr;
  std::string_view text;
  std::uint64_t header_bytes = 0;
};

// Returns the block whose text begins at `address`: at the block's begin or after an older string's
// header. Blocks that are larger than a string of the event would be do not count.
//
// This is called for all words of a stack, at each event; most of them are soon found to be no
// text.
__attribute__((always_inline)) inline BlockText TextAt(std::uint64_t address,
                                                       std::size_t event_bytes) {
  const std::uint64_t header = address % kBlockAlignment == 0 ? 0 : kOldHeaderBytes;
  if (address < kLowestText || (address - header) % kBlockAlignment != 0) return {};
  const LiveMap::Slot slot = LiveMap::Find(address - header);
  if (slot == nullptr || !LiveMap::IsLiveAt(slot)) return {};
  const std::uint64_t size = LiveMap::Read(slot).size_bytes;
  if (size <= header || size > 4 * (event_bytes + kOldHeaderBytes)) return {};
  return {slot, {reinterpret_cast<const char*>(address), size - header}, header};
}

std::size_t CommonBegin(std::string_view a, std::string_view b) {
  std::size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length]) ++length;
  return length;
}

// Returns whether it is a short piece of the event, such as "1", which newer strings keep in
// themselves.
bool IsOldPiece(const BlockText& block, std::string_view event) {
  if (block.header_bytes == 0) return false;
  const std::uint64_t length =
      *reinterpret_cast<const std::uint64_t*>(block.text.data() - block.header_bytes);
  if (length == 0 || length >= block.text.size() || block.text[length] != '\0') return false;
  return event.find(std::string_view(block.text.data(), length)) != std::string_view::npos;
}

enum class Holds { kNothing, kPiece, kEvent };

// REQUIRES: there is a block.
Holds ContentOf(const BlockText& block, std::string_view event) {
  const std::size_t common = CommonBegin(block.text, event);
  if (common == event.size()) return Holds::kEvent;
  const bool ends_there = common < block.text.size() && block.text[common] == '\0';
  const bool is_piece = (common >= kShortestBegin && ends_there) || IsOldPiece(block, event);
  return is_piece ? Holds::kPiece : Holds::kNothing;
}

// REQUIRES: there is a block. Not inline, so that words that are no texts cost no call.
__attribute__((noinline)) Holds ForgetIfOfEvent(Recording recording, const BlockText& block,
                                                std::string_view event) {
  const Holds what = ContentOf(block, event);
  if (what != Holds::kNothing)
    ForgetBlock(recording, block.text.data() - block.header_bytes, block.slot);
  return what;
}

}  // namespace

// GoogleTest makes the event, and then a copy of it with a line end, which it writes.
bool ForgetEventStrings(Recording recording, std::string_view event) {
  const auto written = reinterpret_cast<std::uint64_t>(event.data());
  if (event.ends_with('\n')) event.remove_suffix(1);
  // If the copy is not recorded, the program has another heap for such blocks.
  const BlockText copy = TextAt(written, event.size());
  if (copy.slot == nullptr || ForgetIfOfEvent(recording, copy, event) != Holds::kEvent) return true;
  bool has_found = false;
  VisitStackWords([&](std::uint64_t word) {
    const BlockText block = TextAt(word, event.size());
    if (block.slot == nullptr) return;
    has_found |= ForgetIfOfEvent(recording, block, event) == Holds::kEvent;
  });
  return has_found;
}

}  // namespace leakgate::agent
