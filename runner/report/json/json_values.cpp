#include "runner/report/json/json_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "runner/report/excess.h"
#include "runner/report/json/fields.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// What is wrong with the JSON. Only the first problem is kept.
class Problem {
 public:
  [[nodiscard]] bool is_set() const { return !text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

  void Expect(std::string_view what) {
    Set(fmt::format("{} is expected here; run again what wrote it", what));
  }
  void Set(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  // Adds in front the key of the value that has the problem.
  void Locate(std::string_view key) { text_ = fmt::format("{}: {}", key, text_); }

 private:
  std::string text_;
};

// Read reads a value of its type. Objects come below, after their visitor.
template <typename T>
void Read(const Json& json, T& value, Problem& problem);

void Read(const Json& json, std::string& text, Problem& problem) {
  if (!json.is_string()) return problem.Expect("a string");
  text = json.get_ref<const std::string&>();
}
void Read(const Json& json, SharedText& text, Problem& problem) {
  std::string read;
  Read(json, read, problem);
  text = std::move(read);
}

void Read(const Json& json, bool& value, Problem& problem) {
  if (!json.is_boolean()) return problem.Expect("true or false");
  value = json.get<bool>();
}

void Read(const Json& json, std::uint64_t& number, Problem& problem) {
  if (!json.is_number_unsigned()) return problem.Expect("a whole number from 0 on");
  number = json.get<std::uint64_t>();
}

void Read(const Json& json, std::int64_t& number, Problem& problem) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() <= kMost;
  if (!json.is_number_integer() || !fits) return problem.Expect("a whole number of 64 bits");
  number = json.get<std::int64_t>();
}

void Read(const Json& json, int& number, Problem& problem) {
  std::int64_t large = 0;
  Read(json, large, problem);
  if (problem.is_set()) return;
  if (large < 0 || large > std::numeric_limits<int>::max()) {
    return problem.Expect("a number from 0 on");
  }
  number = static_cast<int>(large);
}

template <typename Enum>
requires std::is_enum_v<Enum>
void ReadWord(const Json& json, std::optional<Enum> from_word(std::string_view), Enum& value,
              Problem& problem) {
  std::string word;
  Read(json, word, problem);
  if (problem.is_set()) return;
  const std::optional<Enum> found = from_word(word);
  if (found) {
    value = *found;
  } else {
    problem.Set(fmt::format("'{}' is no word that {} has here; run again what wrote it",
                            word.substr(0, 40), kRunSchema));
  }
}

template <typename T>
void Read(const Json& json, std::vector<T>& values, Problem& problem) {
  if (!json.is_array()) return problem.Expect("an array");
  values.reserve(json.size());
  for (const Json& element : json) {
    Read(element, values.emplace_back(), problem);
    if (problem.is_set()) return;
  }
}

void Read(const Json& json, SharedStack& stack, Problem& problem) {
  Read(json, stack.Edit(), problem);
}

template <typename T>
void Read(const Json& json, std::map<std::string, T>& values, Problem& problem) {
  if (!json.is_object()) return problem.Expect("an object");
  for (const auto& [key, value] : json.items()) Read(value, values[key], problem);
}

template <typename T>
void Read(const Json& json, std::optional<T>& value, Problem& problem) {
  if (json.is_null()) return;
  Read(json, value.emplace(), problem);
}

template <typename T>
void Read(const Json& json, OrNull<T>& member, Problem& problem) {
  if (!json.is_null()) Read(json, member.value, problem);
}

template <typename T>
void Read(const Json& json, OfRun<T>& member, Problem& problem) {
  ReadWord(json, FromRunWord, member.verdict, problem);
}

template <typename T>
void Read(const Json& json, Hexadecimal<T>& member, Problem& problem) {
  std::string text;
  Read(json, text, problem);
  if (!text.starts_with("0x")) return;
  std::from_chars(text.data() + 2, text.data() + text.size(), member.number, 16);
}

template <typename T>
void Read(const Json& json, Seconds<T>& member, Problem& problem) {
  constexpr double kMost = 1e9;  // thirty years
  if (!json.is_number()) return problem.Expect("a number");
  const std::chrono::duration<double> seconds(json.get<double>());
  if (std::abs(seconds.count()) > kMost) return problem.Expect("a number of seconds");
  member.time = std::chrono::round<std::chrono::nanoseconds>(seconds);
}

// A visitor of fields that fills them from the object's members.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  FieldReader(const Json& object, Problem& problem) : object_(object), problem_(problem) {}

  template <typename T>
  void Required(const char* key, T&& value) {
    if (!ReadMember(key, value)) {
      problem_.Set(fmt::format("what ends here lacks \"{}\"; run again what wrote it", key));
    }
  }
  template <typename T>
  void WithDefault(const char* key, T&& value) {
    ReadMember(key, value);
  }
  template <typename T>
  void WrittenIf(const char* key, T&& value, bool /*is_written*/) {
    ReadMember(key, value);
  }
  template <typename Visit>
  void Group(const char* key, const Visit& visit) {
    const auto member = object_.find(key);
    if (member == object_.end() || problem_.is_set()) return;
    if (!member->is_object()) return problem_.Expect("an object");
    FieldReader group(*member, problem_);
    visit(group);
  }

 private:
  // Returns false if there is no such member.
  template <typename T>
  bool ReadMember(const char* key, T& value) {
    if (problem_.is_set()) return true;
    const auto member = object_.find(key);
    if (member == object_.end()) return false;
    Read(*member, value, problem_);
    if (problem_.is_set()) problem_.Locate(key);
    return true;
  }

  const Json& object_;
  Problem& problem_;
};

// Adds the budgets of components which the JSON names only in violations.
void AddCodeBudgets(WindowResult& window) {
  std::set<std::string> known = {window.budget->component, ""};
  for (const Violation& violation : window.violations) {
    if (!known.insert(violation.component).second) continue;
    AppliedBudget budget;
    budget.component = violation.component;
    window.code_budgets.push_back(std::make_shared<const AppliedBudget>(std::move(budget)));
  }
}

// Complete sets what follows from the JSON, and checks what its types do not.
template <typename T>
void Complete(T& /*value*/, Problem& /*problem*/) {}
void Complete(Finding& finding, Problem& /*problem*/) {
  const bool is_outside = finding.user_frame && *finding.user_frame >= finding.stack.size();
  if (is_outside) finding.user_frame.reset();
}
void Complete(WindowResult& window, Problem& /*problem*/) {
  FillAmounts(window);
  AddCodeBudgets(window);
}
void Complete(Shard& shard, Problem& problem) {
  if (shard.index >= shard.total) {
    problem.Set("a shard's index must be below its total; run again what wrote it");
  }
}

template <typename T>
void Read(const Json& json, T& value, Problem& problem) {
  if constexpr (std::is_enum_v<T>) {
    ReadWord(json, FromWord<T>, value, problem);
  } else {
    if (!json.is_object()) return problem.Expect("an object");
    FieldReader fields(json, problem);
    VisitFields(fields, value);
    if (!problem.is_set()) Complete(value, problem);
  }
}

// A visitor that calls a function with each field of a run.
template <typename OnField>
class EachField {
 public:
  static constexpr bool kReads = true;

  explicit EachField(OnField on_field) : on_field_(on_field) {}

  template <typename T>
  void Required(const char* key, T&& value) {
    on_field_(key, value, true);
  }
  template <typename T>
  void WithDefault(const char* key, T&& value) {
    on_field_(key, value, false);
  }
  template <typename T>
  void WrittenIf(const char* key, T&& value, bool /*is_written*/) {
    on_field_(key, value, false);
  }

 private:
  OnField on_field_;
};

template <typename OnField>
void VisitEachField(RunResult& run, OnField on_field) {
  EachField<OnField> fields(on_field);
  VisitFields(fields, run);
}

// Returns the keys of a run, each with whether it must be there.
const std::map<std::string, bool, std::less<>>& FieldsOfRun() {
  static const auto kFields = [] {
    std::map<std::string, bool, std::less<>> fields;
    RunResult none;
    VisitEachField(none, [&](const char* key, auto& /*value*/, bool is_needed) {
      fields.emplace(key, is_needed);
    });
    return fields;
  }();
  return kFields;
}

}  // namespace

std::string ReadWindow(const Json& json, WindowResult& window) {
  Problem problem;
  Read(json, window, problem);
  return problem.text();
}

std::string ReadFieldOfRun(const Json& json, std::string_view key, RunResult& run) {
  constexpr std::size_t kMostPathBytes = 4096;  // the kernel takes no longer path
  Problem problem;
  VisitEachField(run, [&](std::string_view field, auto& value, bool /*is_needed*/) {
    if (field == key) Read(json, value, problem);
  });
  // The path is repeated with each test of the run.
  if (run.binary.size() > kMostPathBytes) {
    problem.Set(
        fmt::format("a path of more than {} bytes; run again what wrote it", kMostPathBytes));
  }
  return problem.text();
}

bool IsFieldOfRun(std::string_view key) { return FieldsOfRun().contains(key); }

std::optional<std::string> MissingFieldOfRun(const std::vector<std::string>& keys) {
  for (const auto& [field, is_needed] : FieldsOfRun()) {
    if (is_needed && std::find(keys.begin(), keys.end(), field) == keys.end()) return field;
  }
  return std::nullopt;
}

}  // namespace leakgate
