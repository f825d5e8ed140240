// The bytes of a JSON text, read once from front to back, for the rules of its tokens
// (json_string.h, json_number.h) and of its structure (json_scanner.h).
//
//   {"schema": "leakgate-report-2", "binary": "build/my_te      what is read
//                                   ^       ^       ^    ^
//                                   token   next    at   end of the buffer
//
// Of what has been read the token at hand is kept, and nothing else. Places in the
// buffer are indices; where a function fetches more, the index that it is given moves
// with the buffer.
//
// The first problem ends it: all that fails later changes it no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/merge/digest.h"

namespace leakgate {

class JsonText {
 public:
  // Up to `size` bytes of the text into `to`; 0 at its end.
  using Read = std::function<std::size_t(char* to, std::size_t size)>;

  struct Problem {
    std::uint64_t offset = 0;  // of the byte that is wrong
    std::string text;          // "what is wrong; what to do"
    bool is_cut_off = false;   // the text ends too early
  };

  // Function names are the longest texts of reports: of templates, many KiB.
  static constexpr std::size_t kMostTokenBytes = 1 << 24;

  // A byte order mark is left out. The buffer grows to hold the longest token.
  JsonText(Read read, std::size_t buffer_bytes);
  ~JsonText();
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  // To the next token. False at the text's end, and after a problem.
  bool SkipSpace();

  // The next byte. REQUIRES: there is one: SkipSpace or HasNext said so.
  [[nodiscard]] char Next() const { return buffer_[next_]; }
  [[nodiscard]] bool HasNext() {
    std::size_t at = next_;
    return IsAt(at);
  }
  void Advance(std::size_t bytes = 1) { next_ += bytes; }

  // The token at hand begins with the next byte, and is kept from now on.
  void BeginToken() { token_ = next_; }
  // From there to `at`. Good until more is fetched.
  [[nodiscard]] std::string_view Token(std::size_t at) const {
    return {buffer_.data() + token_, at - token_};
  }

  // Ahead of the next byte, in the token at hand.
  [[nodiscard]] std::size_t next() const { return next_; }
  [[nodiscard]] bool IsAt(std::size_t& at) { return at < end_ || FillTo(at); }
  [[nodiscard]] char operator[](std::size_t at) const { return buffer_[at]; }
  void MoveTo(std::size_t at) { next_ = at; }
  // The first byte from `at` on that is not one of these, or the buffer's end.
  template <typename IsOne>
  [[nodiscard]] std::size_t SkipWhile(std::size_t at, const IsOne& is_one) const {
    const char* const bytes = buffer_.data();
    while (at < end_ && is_one(bytes[at])) ++at;
    return at;
  }

  // In the whole text, of the next byte, or of `at`.
  [[nodiscard]] std::uint64_t offset() const { return base_ + next_; }
  [[nodiscard]] std::uint64_t OffsetOf(std::size_t at) const { return base_ + at; }

  // A digest of the bytes from the next one on, until EndDigest.
  void BeginDigest();
  [[nodiscard]] Digest EndDigest();

  // All are always false.
  bool Fail(std::uint64_t offset, std::string text);
  bool CutOff();
  bool TooLong(std::uint64_t begin);  // of the token
  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }

 private:
  struct Hash;

  bool Fill();  // false: the text has ended, or the token is too long
  bool FillTo(std::size_t& at);

  Read read_;
  std::vector<char> buffer_;
  std::size_t token_ = 0;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;  // of the buffer, in the text
  bool is_hashed_ = false;
  std::size_t hashed_ = 0;  // up to here the bytes are in hash_
  std::unique_ptr<Hash> hash_;
  std::optional<Problem> problem_;
};

}  // namespace leakgate
