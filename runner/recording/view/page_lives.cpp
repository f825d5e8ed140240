#include "runner/recording/view/page_lives.h"

#include <cstdint>
#include <string_view>

namespace leakgate {
namespace {

constexpr unsigned kNewBirth = 0x10;
constexpr unsigned kNewDeath = 0x20;
constexpr unsigned kAllTemporary = 0x40;
constexpr unsigned kPartTemporary = 0x80;

class LifeEncoder {
 public:
  explicit LifeEncoder(std::size_t bins) : bins_(bins) {}

  void Add(const Life& life) {
    const std::size_t birth =
        life.key.allocated_bin == LifeKey::kBefore ? 0 : life.key.allocated_bin + 1;
    const std::size_t death = DeathOf(life.key.freed_bin);
    const bool is_new_birth = birth != birth_;
    if (is_new_birth) death_ = 0;
    const bool is_new_death = death != death_;
    if (is_new_birth || is_new_death) stack_ = 0;
    const bool all_is_temporary = life.temporary == life.sum;
    const bool part_is_temporary = !all_is_temporary && life.temporary != RecordedSum();
    Byte(static_cast<unsigned>(life.key.decade) | (is_new_birth ? kNewBirth : 0) |
         (is_new_death ? kNewDeath : 0) | (all_is_temporary ? kAllTemporary : 0) |
         (part_is_temporary ? kPartTemporary : 0));
    if (is_new_birth) Number(birth - birth_);
    if (is_new_death) Number(death - death_);
    Number(life.key.stack - stack_);
    Sum(life.sum);
    if (part_is_temporary) Sum(life.temporary);
    birth_ = birth;
    death_ = death;
    stack_ = life.key.stack;
  }

  std::string Take() { return std::move(bytes_); }

 private:
  std::size_t DeathOf(std::size_t freed_bin) const {
    if (freed_bin == LifeKey::kNever) return bins_ + 2;
    return freed_bin == LifeKey::kAfter ? bins_ + 1 : freed_bin + 1;
  }
  void Byte(unsigned byte) { bytes_.push_back(static_cast<char>(byte & 0xFF)); }
  void Number(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) Byte(static_cast<unsigned>(number & 0x7F) | 0x80);
    Byte(static_cast<unsigned>(number));
  }
  void Sum(const RecordedSum& sum) {
    Number(sum.bytes);
    Number(sum.blocks);
  }

  std::size_t bins_;
  std::string bytes_;
  std::size_t birth_ = 0;
  std::size_t death_ = 0;
  std::uint32_t stack_ = 0;
};

}  // namespace

std::string EncodeLives(const std::vector<Life>& lives, std::size_t bins) {
  LifeEncoder encoder(bins);
  for (const Life& life : lives) encoder.Add(life);
  return encoder.Take();
}

std::string Base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    const unsigned triple = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (unsigned i = 0; i < 4; ++i) {
      text.push_back(at + i <= bytes.size() ? kDigits[triple >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

}  // namespace leakgate
