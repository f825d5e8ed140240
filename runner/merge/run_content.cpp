#include "runner/merge/run_content.h"

#include <xxhash.h>

#include <memory>
#include <string_view>

#include "runner/report/json/fields.h"

namespace leakgate {
namespace {

// A visitor of fields that hashes the values. Each text and each list is told with its length,
// so that what stands side by side cannot be taken for another.
class FieldHasher {
 public:
  static constexpr bool kReads = false;

  FieldHasher() { XXH3_128bits_reset(state_.get()); }

  template <typename T>
  void Needed(const char* /*key*/, const T& value) {
    Add(value);
  }
  template <typename T>
  void Added(const char* /*key*/, const T& value) {
    Add(value);
  }
  template <typename T>
  void Told(const char* /*key*/, const T& value, bool is_told) {
    Add(is_told);
    if (is_told) Add(value);
  }
  template <typename Visit>
  void Group(const char* /*key*/, const Visit& visit) {
    visit(*this);
  }

  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      XXH3_128bits_update(state_.get(), &value, sizeof value);
    } else {
      VisitFields(*this, value);
    }
  }
  void Add(const std::string& text) {
    Add(text.size());
    XXH3_128bits_update(state_.get(), text.data(), text.size());
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(values.size());
    for (const T& value : values) Add(value);
  }
  template <typename T>
  void Add(const std::map<std::string, T>& values) {
    Add(values.size());
    for (const auto& [key, value] : values) {
      Add(key);
      Add(value);
    }
  }
  template <typename T>
  void Add(const OrNull<T>& member) {
    Add(member.value);
  }
  template <typename T>
  void Add(const Hexadecimal<T>& member) {
    Add(member.number);
  }
  template <typename T>
  void Add(const Seconds<T>& member) {
    Add((member.time - member.origin).count());
  }
  template <typename T>
  void Add(const OfRun<T>& member) {
    Add(member.verdict);
  }

  [[nodiscard]] RunContent Content() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

}  // namespace

RunContent ContentOf(const RunResult& run) {
  FieldHasher hasher;
  VisitFields(hasher, run);
  hasher.Add(run.windows.size());
  for (const WindowResult& window : run.windows) VisitFields(hasher, window, run.begin);
  return hasher.Content();
}

}  // namespace leakgate
