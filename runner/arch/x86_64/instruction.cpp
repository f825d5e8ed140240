#include "runner/arch/x86_64/instruction.h"

#include <algorithm>
#include <cstring>

namespace leakgate {
namespace {

constexpr std::size_t kLongestInstruction = 15;

enum class Map : std::uint8_t { kOne, k0f, k0f38, k0f3a, kXop8, kXop9, kXopA };

class Decoding {
 public:
  explicit Decoding(std::span<const std::uint8_t> code)
      : code_(code.first(std::min(code.size(), kLongestInstruction))) {}

  std::optional<Instruction> Run() {
    ReadPrefixes();
    if (!ReadOpcode()) return std::nullopt;
    if (HasModRm() && !ReadModRm()) return std::nullopt;
    const std::size_t immediate_at = at_;
    at_ += ImmediateBytes();
    if (at_ > code_.size()) return std::nullopt;
    instruction_.bytes = at_;
    instruction_.has_short_addresses = has_67_;
    Classify(immediate_at);
    return instruction_;
  }

 private:
  [[nodiscard]] int Peek() const { return at_ < code_.size() ? code_[at_] : -1; }
  int Take() {
    const int byte = Peek();
    ++at_;
    return byte;
  }

  void ReadPrefixes() {
    for (;; ++at_) {
      switch (Peek()) {
        case 0x66:
          has_66_ = true;
          continue;
        case 0x67:
          has_67_ = true;
          continue;
        case 0xf2:
          has_f2_ = true;
          continue;
        case 0xf3:
          has_f3_ = true;
          continue;
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26:
        case 0x64:
        case 0x65:
        case 0xf0:
          continue;
        default:
          break;
      }
      if ((Peek() & 0xf0) == 0x40 && Peek() >= 0) {
        is_wide_ = (Take() & 8) != 0;
        // A prefix behind it would make it void; compilers write none.
      }
      return;
    }
  }

  bool ReadOpcode() {
    const int first = Take();
    if (first < 0) return false;
    opcode_ = static_cast<std::uint8_t>(first);
    if (first == 0xc5 || first == 0xc4 || first == 0x62) return ReadVector(first);
    if (first == 0x8f && Peek() >= 0 && (Peek() & 0x1f) >= 8) return ReadXop();
    if (first != 0x0f) return IsKnownOfOne();
    const int second = Take();
    map_ = Map::k0f;
    if (second == 0x38 || second == 0x3a) {
      map_ = second == 0x38 ? Map::k0f38 : Map::k0f3a;
      const int third = Take();
      opcode_ = static_cast<std::uint8_t>(third);
      return third >= 0;
    }
    opcode_ = static_cast<std::uint8_t>(second);
    return second >= 0;
  }

  bool ReadVector(int first) {
    is_vector_ = true;
    int map = 1;
    if (first != 0xc5) {
      map = Take() & (first == 0xc4 ? 0x1f : 0x07);
      ++at_;
    } else {
      ++at_;
    }
    if (first == 0x62) ++at_;
    const int opcode = Take();
    if (opcode < 0) return false;
    opcode_ = static_cast<std::uint8_t>(opcode);
    const bool is_evex = first == 0x62;
    if (map == 1) {
      map_ = Map::k0f;
    } else if (map == 2 || (is_evex && (map == 5 || map == 6))) {
      map_ = Map::k0f38;  // no immediate, as there
    } else if (map == 3) {
      map_ = Map::k0f3a;
    } else {
      return false;
    }
    return true;
  }

  bool ReadXop() {
    const int map = Take() & 0x1f;
    ++at_;
    const int opcode = Take();
    if (opcode < 0 || map > 10) return false;
    opcode_ = static_cast<std::uint8_t>(opcode);
    map_ = map == 8 ? Map::kXop8 : map == 9 ? Map::kXop9 : Map::kXopA;
    return true;
  }

  // Those of 32-bit code are none.
  [[nodiscard]] bool IsKnownOfOne() const {
    switch (opcode_) {
      case 0x06:
      case 0x07:
      case 0x0e:
      case 0x16:
      case 0x17:
      case 0x1e:
      case 0x1f:
      case 0x27:
      case 0x2f:
      case 0x37:
      case 0x3f:
      case 0x60:
      case 0x61:
      case 0x82:
      case 0x9a:
      case 0xce:
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xea:
        return false;
      default:
        return true;
    }
  }

  [[nodiscard]] bool HasModRm() const {
    const std::uint8_t op = opcode_;
    if (map_ == Map::kOne) {
      if (op < 0x40) return (op & 7) < 4;
      return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
             op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
             (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
    }
    if (map_ != Map::k0f) return true;
    if (is_vector_) return op != 0x77;
    const bool is_plain = (op >= 0x04 && op <= 0x0c && op != 0x0d) || op == 0x0e ||
                          (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
                          (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
                          (op >= 0xc8 && op <= 0xcf);
    return !is_plain;
  }

  bool ReadModRm() {
    const int byte = Take();
    if (byte < 0) return false;
    mod_rm_ = static_cast<std::uint8_t>(byte);
    const int mod = byte >> 6;
    const int rm = byte & 7;
    if (mod == 3) return true;
    bool has_long_distance = mod == 2;
    if (rm == 4) {
      const int scaled = Take();
      if (scaled < 0) return false;
      has_long_distance = has_long_distance || (mod == 0 && (scaled & 7) == 5);
    } else if (mod == 0 && rm == 5) {
      instruction_.distance_at = at_;
      has_long_distance = true;
    }
    at_ += has_long_distance ? 4 : mod == 1 ? 1 : 0;
    return at_ <= code_.size();
  }

  [[nodiscard]] int Register() const { return mod_rm_ >> 3 & 7; }  // or a part of the opcode

  [[nodiscard]] std::size_t ImmediateBytes() const {
    switch (map_) {
      case Map::kOne:
        return ImmediateBytesOfOne();
      case Map::k0f:
        return ImmediateBytesOf0f();
      case Map::k0f3a:
      case Map::kXop8:
        return 1;
      case Map::kXopA:
        return 4;
      case Map::k0f38:
      case Map::kXop9:
        break;
    }
    return 0;
  }

  [[nodiscard]] std::size_t ImmediateBytesOfOne() const {
    const std::uint8_t op = opcode_;
    const std::size_t full = has_66_ && !is_wide_ ? 2 : 4;
    if (op < 0x40) return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
    if (op >= 0x70 && op <= 0x7f) return 1;
    if (op >= 0xa0 && op <= 0xa3) return has_67_ ? 4 : 8;
    if (op >= 0xb0 && op <= 0xb7) return 1;
    if (op >= 0xb8 && op <= 0xbf) return is_wide_ ? 8 : full;
    if (op >= 0xe0 && op <= 0xe7) return 1;
    switch (op) {
      case 0x68:
      case 0x69:
      case 0x81:
      case 0xa9:
      case 0xc7:
        return full;
      case 0x6a:
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xa8:
      case 0xc0:
      case 0xc1:
      case 0xc6:
      case 0xcd:
      case 0xeb:
        return 1;
      case 0xc2:
      case 0xca:
        return 2;
      case 0xc8:
        return 3;
      case 0xe8:
      case 0xe9:
        return 4;
      case 0xf6:
        return Register() < 2 ? 1 : 0;
      case 0xf7:
        return Register() < 2 ? full : 0;
      default:
        return 0;
    }
  }

  [[nodiscard]] std::size_t ImmediateBytesOf0f() const {
    const std::uint8_t op = opcode_;
    if (!is_vector_ && op >= 0x80 && op <= 0x8f) return 4;
    if (op >= 0x70 && op <= 0x73) return 1;
    if (op == 0xc2 || (op >= 0xc4 && op <= 0xc6)) return 1;
    if (is_vector_) return 0;
    if (op == 0x78 && (has_66_ || has_f2_)) return 2;  // extrq, insertq
    return op == 0x0f || op == 0xa4 || op == 0xac || op == 0xba ? 1 : 0;
  }

  void SetDistance(std::size_t at, std::size_t bytes) {
    std::int32_t distance = 0;
    if (bytes == 1) {
      distance = static_cast<std::int8_t>(code_[at]);
    } else {
      std::memcpy(&distance, &code_[at], sizeof(distance));
    }
    instruction_.branch_distance = distance;
  }

  void Classify(std::size_t immediate_at) {
    const std::uint8_t op = opcode_;
    if (map_ == Map::k0f && !is_vector_) {
      if (op >= 0x80 && op <= 0x8f) {
        instruction_.branch = Branch::kConditional;
        instruction_.condition = op & 15;
        SetDistance(immediate_at, 4);
      }
      instruction_.is_padding = op == 0x1f;
      return;
    }
    if (map_ != Map::kOne) return;
    instruction_.is_padding = (op == 0x90 && !has_f3_) || op == 0xcc;
    if (op >= 0x70 && op <= 0x7f) {
      instruction_.branch = Branch::kConditional;
      instruction_.condition = op & 15;
      SetDistance(immediate_at, 1);
    } else if (op >= 0xe0 && op <= 0xe3) {
      instruction_.branch = Branch::kLoop;
      SetDistance(immediate_at, 1);
    } else if (op == 0xe8 || op == 0xe9) {
      instruction_.branch = op == 0xe8 ? Branch::kCall : Branch::kJump;
      SetDistance(immediate_at, 4);
    } else if (op == 0xeb) {
      instruction_.branch = Branch::kJump;
      SetDistance(immediate_at, 1);
    } else if (op == 0xff && Register() >= 2 && Register() <= 5) {
      instruction_.branch = Register() < 4 ? Branch::kCall : Branch::kJump;
    } else if (op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcf) {
      instruction_.branch = Branch::kReturn;
    }
  }

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0;
  bool has_66_ = false;
  bool has_67_ = false;
  bool has_f2_ = false;
  bool has_f3_ = false;
  bool is_wide_ = false;    // by REX.W
  bool is_vector_ = false;  // VEX or EVEX
  Map map_ = Map::kOne;
  std::uint8_t opcode_ = 0;
  std::uint8_t mod_rm_ = 0;
  Instruction instruction_;
};

}  // namespace

std::optional<Instruction> DecodeInstruction(std::span<const std::uint8_t> code) {
  return Decoding(code).Run();
}

}  // namespace leakgate
