#include "runner/arch/moved_entry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "runner/arch/x86_64/instruction.h"

namespace leakgate {

std::uint64_t FarthestHook() { return 1ULL << 30; }

namespace {

template <typename T>
using Result = tl::expected<T, const char*>;
using Failure = tl::unexpected<const char*>;

constexpr std::size_t kJumpBytes = 5;                                           // e9 rel32
constexpr std::array<std::uint8_t, 4> kLandingMark = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
constexpr std::size_t kSlotBytes = 16;
constexpr std::size_t kDistanceBytes = 4;

class EntryMover {
 public:
  EntryMover(const FunctionCode& function, std::uint64_t to) : function_(function), to_(to) {}

  Result<MovedEntry> Move() {
    const bool is_marked =
        function_.bytes > kLandingMark.size() && function_.code.size() > kLandingMark.size() &&
        std::equal(kLandingMark.begin(), kLandingMark.end(), function_.code.begin());
    const std::size_t first = is_marked ? kLandingMark.size() : 0;
    MovedEntry entry;
    entry.address = function_.address + first;
    entry.slot = to_;
    code_.assign(kSlotBytes, 0);
    Append({0xff, 0x35});  // push slot(%rip)
    AppendDistance(to_);
    Append({0xff, 0x25});  // jmp *slot+8(%rip)
    AppendDistance(to_ + kSlotBytes / 2);
    entry.moved = Here();
    const Result<std::size_t> moved = MoveInstructions(first);
    if (!moved) return Failure(moved.error());
    const std::size_t end = *moved;
    if (!has_ended_) {
      Append({0xe9});
      AppendDistance(function_.address + end);
    }
    if (const Result<void> has_none = RequireNoJumpInto(first, end); !has_none) {
      return Failure(has_none.error());
    }
    const auto distance = static_cast<std::int64_t>(to_ + kSlotBytes - entry.address - kJumpBytes);
    if (!fits_ || !Fits(distance)) return Failure("it is too far from memory that is free");
    entry.patch = {0xe9};
    AppendTo(entry.patch, distance);
    entry.hook = std::move(code_);
    return entry;
  }

 private:
  [[nodiscard]] std::uint64_t Here() const { return to_ + code_.size(); }
  static bool Fits(std::int64_t distance) {
    return distance == static_cast<std::int32_t>(distance);
  }
  static void AppendTo(std::vector<std::uint8_t>& code, std::int64_t distance) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      code.push_back(static_cast<std::uint8_t>(distance >> shift));
    }
  }

  void Append(std::span<const std::uint8_t> bytes) {
    code_.insert(code_.end(), bytes.begin(), bytes.end());
  }
  void Append(std::initializer_list<std::uint8_t> bytes) { code_.insert(code_.end(), bytes); }
  // Appends how far `target` is from the end of the four bytes that this appends.
  void AppendDistance(std::uint64_t target) {
    const auto distance = static_cast<std::int64_t>(target - Here() - kDistanceBytes);
    fits_ = fits_ && Fits(distance);
    AppendTo(code_, distance);
  }

  [[nodiscard]] std::span<const std::uint8_t> From(std::size_t at) const {
    return function_.code.subspan(std::min(at, function_.code.size()));
  }

  // Returns where, from the function's begin, the moved instructions end.
  Result<std::size_t> MoveInstructions(std::size_t first) {
    std::size_t at = first;
    while (at < first + kJumpBytes) {
      const std::optional<Instruction> instruction = DecodeInstruction(From(at));
      if (!instruction) return Failure("its machine code is not known");
      // Behind a function's end, up to where the next may begin, is padding.
      if (at >= function_.bytes || (has_ended_ && !instruction->is_padding)) {
        if (!instruction->is_padding) return Failure("it is too short for a jump");
      } else if (!has_ended_) {
        if (const Result<void> moved = MoveOne(*instruction, at); !moved) {
          return Failure(moved.error());
        }
      }
      at += instruction->bytes;
    }
    return at;
  }

  Result<void> MoveOne(const Instruction& instruction, std::size_t at) {
    const std::uint64_t end = function_.address + at + instruction.bytes;
    if (instruction.branch == Branch::kCall) {
      if (!instruction.branch_distance) return Failure("it begins with an indirect call");
      MoveCall(end, *instruction.branch_distance);
      return {};
    }
    if (instruction.branch == Branch::kLoop || instruction.has_short_addresses) {
      return Failure("it begins with an instruction that cannot be moved");
    }
    if (instruction.branch_distance) {
      if (instruction.branch == Branch::kJump) {
        Append({0xe9});
        has_ended_ = true;
      } else {
        Append({0x0f, static_cast<std::uint8_t>(0x80 | instruction.condition)});
      }
      AppendDistance(end + static_cast<std::uint64_t>(std::int64_t{*instruction.branch_distance}));
      return {};
    }
    const std::size_t place = code_.size() + instruction.distance_at;
    Append(From(at).first(instruction.bytes));
    has_ended_ = instruction.branch == Branch::kJump || instruction.branch == Branch::kReturn;
    if (instruction.distance_at == 0) return {};
    std::int32_t distance = 0;
    std::memcpy(&distance, &code_[place], sizeof(distance));
    const std::uint64_t meant = end + static_cast<std::uint64_t>(std::int64_t{distance});
    const auto moved = static_cast<std::int64_t>(meant - Here());
    fits_ = fits_ && Fits(moved);
    distance = static_cast<std::int32_t>(moved);
    std::memcpy(&code_[place], &distance, sizeof(distance));
    return {};
  }

  // What is called returns to where the call was, so that its caller can be found there. That is
  // behind the patch, which is no longer than a call.
  void MoveCall(std::uint64_t end, std::int32_t distance) {
    constexpr std::uint8_t kJumpsBytes = kJumpBytes;
    Append({0xff, 0x35, kJumpsBytes, 0, 0, 0});  // push returns(%rip)
    Append({0xe9});
    AppendDistance(end + static_cast<std::uint64_t>(std::int64_t{distance}));
    for (unsigned shift = 0; shift < 64; shift += 8) {  // returns:
      code_.push_back(static_cast<std::uint8_t>(end >> shift));
    }
    has_ended_ = true;
  }

  // A jump to the function's begin goes by the hook, like a call.
  Result<void> RequireNoJumpInto(std::size_t first, std::size_t end) {
    const std::size_t bytes = std::min(function_.bytes, function_.code.size());
    for (std::size_t at = 0; at < bytes;) {
      const std::optional<Instruction> instruction = DecodeInstruction(From(at));
      if (!instruction) return Failure("its machine code is not known");
      at += instruction->bytes;
      if (!instruction->branch_distance) continue;
      const std::int64_t target = static_cast<std::int64_t>(at) + *instruction->branch_distance;
      if (target > static_cast<std::int64_t>(first) && target < static_cast<std::int64_t>(end)) {
        return Failure("it jumps back into its first instructions");
      }
    }
    return {};
  }

  const FunctionCode& function_;
  std::uint64_t to_;
  std::vector<std::uint8_t> code_;
  bool has_ended_ = false;  // no instruction follows the last one that was moved
  bool fits_ = true;
};

}  // namespace

tl::expected<MovedEntry, const char*> MoveEntry(const FunctionCode& function, std::uint64_t to) {
  return EntryMover(function, to).Move();
}

}  // namespace leakgate
