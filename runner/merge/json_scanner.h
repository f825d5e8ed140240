// A JSON text read once, from front to back, in memory that does not grow with its
// size: a merge reads gigabytes, and wants few of the values.
//
// It takes what JSON allows and nothing else. Each value has a digest of what it
// says, whatever white space, escapes and order of keys it is written with.
//
// What would need much memory, or much time for each byte, is refused, however well-formed
// it is: a long string, many keys in one object, deep nesting.
//
// The first problem ends it: all that is asked then is false, and problem() tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runner/merge/digest.h"
#include "runner/merge/json_text.h"

namespace leakgate {

enum class JsonType { kObject, kArray, kString, kNumber, kBoolean, kNull };

class JsonScanner {
 public:
  using Read = JsonText::Read;
  using Problem = JsonText::Problem;

  explicit JsonScanner(Read read, std::size_t buffer_bytes = kBufferBytes)
      : text_(std::move(read), buffer_bytes) {}

  // The type of the next value; nothing where none begins.
  std::optional<JsonType> Peek();

  // The next value, which must be one of these. Strings are good until the next call.
  bool String(std::string_view& value);
  bool Integer(std::int64_t& value);
  bool Null();
  bool Any();

  // Calls `on_member` with each key; it reads the value, or ends the whole by false.
  template <typename OnMember>
  bool Object(const OnMember& on_member) {
    if (!Open('{', "an object")) return false;
    Digest sum;  // not in order: keys have none
    std::string key;
    for (std::size_t keys = 0; !Close('}', keys == 0); ++keys) {
      if (keys == kMostKeys) return TooManyKeys();
      if (!Key(key)) return false;
      const Digest key_digest = digest_;
      if (!on_member(std::string_view(key))) return false;
      const Digest member = Combine(key_digest, digest_);
      sum.low += member.low;
      sum.high += member.high;
    }
    return Finish(Combine(sum, {1, 1}));
  }

  // Likewise with each element, which `on_element` reads.
  template <typename OnElement>
  bool Array(const OnElement& on_element) {
    if (!Open('[', "an array")) return false;
    Digest chain;
    for (bool is_first = true; !Close(']', is_first); is_first = false) {
      if (!on_element()) return false;
      chain = Combine(chain, digest_);
    }
    return Finish(Combine(chain, {2, 2}));
  }

  // False: something but white space follows.
  bool AtEnd();

  // Of the value that was read last.
  [[nodiscard]] const Digest& digest() const { return digest_; }

  // The bytes from the next value on, until EndText: where they begin, and a digest.
  std::uint64_t BeginText();
  Digest EndText();
  // Behind the value that was read last.
  [[nodiscard]] std::uint64_t offset() const { return text_.offset(); }
  // How many values there were up to there, keys not counted.
  [[nodiscard]] std::uint64_t values() const { return values_; }

  // A problem of what the value says that was read last. Always false.
  bool Refuse(std::string text);
  [[nodiscard]] const std::optional<Problem>& problem() const { return text_.problem(); }

  static constexpr std::size_t kBufferBytes = 1 << 18;
  // Arrays and objects may be nested this deep.
  static constexpr int kMostDepth = 64;
  // An object may have so many keys. Who keeps them in their order, as nlohmann's
  // ordered_json does, compares each with all others.
  static constexpr std::size_t kMostKeys = 256;

 private:
  static Digest Combine(const Digest& a, const Digest& b);

  bool Open(char bracket, std::string_view what);
  bool Close(char bracket, bool is_first);  // true at the end, and after a problem
  bool Key(std::string& key);
  bool TooManyKeys();
  bool Finish(const Digest& digest);
  bool Number();
  bool Word(std::string_view word, std::uint64_t tag);
  bool WrongType(std::string_view wanted);

  JsonText text_;
  std::uint64_t value_ = 0;  // the offset of the value that was read last
  std::uint64_t values_ = 0;
  int depth_ = 0;
  std::string scratch_;  // a string with escapes
  Digest digest_;
};

}  // namespace leakgate
