#include "runner/results/result_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/report/json/fields.h"
#include "runner/results/result_text.h"

namespace leakgate {

namespace {

// A visitor of fields that hashes the values. The length of each text and list is hashed, too, so
// that different neighbours cannot give the same bytes.
class FieldHasher {
 public:
  static constexpr bool kReads = false;

  FieldHasher() { XXH3_128bits_reset(state_.get()); }

  template <typename T>
  void Required(const char* /*key*/, const T& value) {
    Add(value);
  }
  template <typename T>
  void WithDefault(const char* /*key*/, const T& value) {
    Add(value);
  }
  template <typename T>
  void WrittenIf(const char* /*key*/, const T& value, bool is_written) {
    Add(is_written);
    if (is_written) Add(value);
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
  void Add(const SharedText& text) { Add(text.get()); }
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
  void Add(const SharedStack& stack) { Add(stack.get()); }
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

namespace fs = std::filesystem;

ReadBytes ReadFrom(ResultText& text) {
  return [&text](char* to, std::size_t size) { return text.Read(to, size); };
}

// Finds out the line and column of an offset, as editors count them, and those where the last text,
// number or word before it begins.
class Places {
 public:
  void Pass(char c) {
    if (is_in_text_) {
      is_in_text_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
    } else if (c == '"') {
      is_in_text_ = true;
      is_in_word_ = false;
      value_ = here_;
    } else if (std::string_view("{}[]:, \t\r\n").find(c) != std::string_view::npos) {
      is_in_word_ = false;
    } else if (!std::exchange(is_in_word_, true)) {
      value_ = here_;
    }
    ++here_.column;
    if (c == '\n') here_ = {here_.line + 1, 1};
  }

  struct Place {
    std::uint64_t line = 1;
    std::uint64_t column = 1;
  };
  [[nodiscard]] Place here() const { return here_; }
  [[nodiscard]] Place value() const { return value_; }

 private:
  Place here_;
  Place value_;
  bool is_in_text_ = false;
  bool is_escaped_ = false;
  bool is_in_word_ = false;
};

// Returns the error "FILE:LINE:COLUMN: ...".
Unexpected ErrorAt(const fs::path& path, const JsonProblem& problem) {
  Places places;
  if (Expected<ResultText> text = ResultText::Glance(path)) {
    std::vector<char> bytes(1 << 16);
    for (std::uint64_t left = problem.offset; left != 0;) {
      const std::size_t count =
          text->Read(bytes.data(), std::min<std::uint64_t>(bytes.size(), left));
      if (count == 0) break;
      for (std::size_t i = 0; i < count; ++i) places.Pass(bytes[i]);
      left -= count;
    }
  }
  const Places::Place place = problem.is_behind_value ? places.value() : places.here();
  return UsageError(
      fmt::format("{}:{}:{}: {}", PathText(path), place.line, place.column, problem.text));
}

}  // namespace

RunContent ContentOf(const RunResult& run) {
  FieldHasher hasher;
  VisitFields(hasher, run);
  hasher.Add(run.windows.size());
  for (const WindowResult& window : run.windows) VisitFields(hasher, window, run.begin);
  return hasher.Content();
}

Expected<ResultKind> KindOf(const fs::path& path) {
  LEAKGATE_TRY_ASSIGN(ResultText text, ResultText::Glance(path));
  const JsonSchema found = ReadSchema(ReadFrom(text));
  if (found.schema == kRunSchema) return ResultKind::kRun;
  if (found.schema == kMergedSchema) return ResultKind::kMerged;
  // A file that was cut off may have been a result, and one of another version is one. ReadResults
  // tells what is wrong with it.
  const bool is_report = found.schema && IsSchemaOfReports(*found.schema);
  if (!is_report && !found.is_cut_off) return ResultKind::kOther;
  const Expected<void> read = ReadResults(path, [](RunResult&&, const RunPlace&) {});
  return read ? Expected<ResultKind>(ResultKind::kRun) : Unexpected(read.error());
}

Expected<void> ReadResults(const fs::path& path, const OnResult& on_result) {
  LEAKGATE_TRY_ASSIGN(ResultText text, ResultText::Open(path));
  return ReadAllRuns(path, ReadFrom(text), [&](RunResult&& run, const JsonSpan& span) {
    const RunContent content = ContentOf(run);
    on_result(std::move(run), {path, span, content});
  });
}

Expected<void> ReadAllRuns(const fs::path& path, const ReadBytes& read, const OnRun& on_run) {
  std::optional<JsonProblem> problem = ReadRuns(read, on_run);
  if (!problem) return {};
  if (!problem->is_report && !problem->is_cut_off) {
    problem->text = "not a report of leakgate's: " + problem->text;
  }
  return ErrorAt(path, *problem);
}

Expected<RunResult> ReadResultAt(const RunPlace& place) {
  LEAKGATE_TRY_ASSIGN(ResultText text, ResultText::Open(place.file, place.span.offset));
  std::uint64_t left = place.span.size;
  std::optional<RunResult> found;
  const std::optional<JsonProblem> problem = ReadRuns(
      [&](char* to, std::size_t size) {
        const std::size_t count = text.Read(to, std::min<std::uint64_t>(size, left));
        left -= count;
        return count;
      },
      [&](RunResult&& run, const JsonSpan&) { found = std::move(run); });
  if (!problem && found && ContentOf(*found) == place.content) return *std::move(found);
  return UsageError(
      fmt::format("{}: changed while it was merged; merge again once all runs have ended",
                  PathText(place.file)));
}

}  // namespace leakgate
