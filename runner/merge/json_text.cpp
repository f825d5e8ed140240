#include "runner/merge/json_text.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <utility>

namespace leakgate {
namespace {

bool IsSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

}  // namespace

struct JsonText::Hash {
  Hash() = default;
  ~Hash() { XXH3_freeState(state); }
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;

  XXH3_state_t* state = XXH3_createState();
};

JsonText::~JsonText() = default;

JsonText::JsonText(Read read, std::size_t buffer_bytes)
    : read_(std::move(read)), buffer_(buffer_bytes), hash_(std::make_unique<Hash>()) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  while (end_ < kByteOrderMark.size() && Fill()) continue;
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    next_ = token_ = kByteOrderMark.size();
  }
}

// Drops what lies before the token at hand.
bool JsonText::Fill() {
  if (end_ - token_ >= kMostTokenBytes) return TooLong(OffsetOf(token_));
  if (is_hashed_) {
    XXH3_128bits_update(hash_->state, buffer_.data() + hashed_, token_ - hashed_);
    hashed_ = 0;
  }
  if (token_ != 0) std::memmove(buffer_.data(), buffer_.data() + token_, end_ - token_);
  base_ += token_;
  next_ -= token_;
  end_ -= token_;
  token_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const std::size_t count = read_(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  return count != 0;
}

bool JsonText::FillTo(std::size_t& at) {
  const std::size_t ahead = at - token_;
  const bool has_more = Fill();
  at = token_ + ahead;
  return has_more && at < end_;
}

bool JsonText::SkipSpace() {
  if (problem_) return false;
  for (;;) {
    next_ = token_ = SkipWhile(next_, IsSpace);
    if (next_ < end_) return true;
    if (!Fill()) return false;
  }
}

bool JsonText::Fail(std::uint64_t offset, std::string text) {
  if (!problem_) problem_ = Problem{offset, std::move(text), false};
  return false;
}

bool JsonText::CutOff() {
  if (!problem_) {
    problem_ = Problem{
        base_ + end_, "the file was cut off here; copy it again, or run again what wrote it", true};
  }
  return false;
}

bool JsonText::TooLong(std::uint64_t begin) {
  return Fail(begin, fmt::format("a text or number of more than {} MiB; run again what wrote it",
                                 kMostTokenBytes >> 20));
}

void JsonText::BeginDigest() {
  XXH3_128bits_reset(hash_->state);
  is_hashed_ = true;
  hashed_ = next_;
}

Digest JsonText::EndDigest() {
  XXH3_128bits_update(hash_->state, buffer_.data() + hashed_, next_ - hashed_);
  is_hashed_ = false;
  const XXH128_hash_t hash = XXH3_128bits_digest(hash_->state);
  return {hash.low64, hash.high64};
}

}  // namespace leakgate
