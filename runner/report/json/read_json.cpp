#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runner/report/json/fields.h"
#include "runner/report/json/json_report.h"
#include "runner/report/json/json_values.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// The bytes of the text. They are counted when the parser takes them.
class CountedBytes {
 public:
  explicit CountedBytes(const ReadBytes& read) : read_(read), buffer_(kBufferBytes) {}

  [[nodiscard]] bool HasNext() { return at_ < end_ || Fill(); }
  [[nodiscard]] char Next() const { return buffer_[at_]; }
  void Advance() { ++at_; }

  [[nodiscard]] std::uint64_t taken() const { return base_ + at_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }
  // Tells that a token has been read completely.
  void EndToken() { token_ = taken(); }

  // An input iterator of the standard library. The default one is the end.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    Iterator() = default;
    explicit Iterator(CountedBytes& bytes) : bytes_(&bytes) {}
    char operator*() const { return bytes_->Next(); }
    Iterator& operator++() {
      bytes_->Advance();
      return *this;
    }
    Iterator operator++(int) {
      bytes_->Advance();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.IsAtEnd() == b.IsAtEnd();
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

   private:
    [[nodiscard]] bool IsAtEnd() const { return bytes_ == nullptr || !bytes_->HasNext(); }

    CountedBytes* bytes_ = nullptr;
  };

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;

  bool Fill() {
    if (has_ended_) return false;
    is_too_long_ = taken() - token_ > kMostTokenBytes;
    base_ += at_;
    at_ = 0;
    end_ = is_too_long_ ? 0 : read_(buffer_.data(), buffer_.size());
    has_ended_ = end_ == 0;
    return !has_ended_;
  }

  const ReadBytes& read_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;   // of the buffer, in the text
  std::uint64_t token_ = 0;  // begin of the current token, or of the space in front of it
  bool has_ended_ = false;
  bool is_too_long_ = false;
};

// Returns how many elements the array of this key may have.
std::size_t MostElements(std::string_view key) {
  if (key == "violations" || key == "known_violations") return kMostViolations;
  return key == "free_errors" ? kMostFreeErrors : kMostRecords;
}

// Builds one JSON value from the calls of the parser.
class ValueBuilder {
 public:
  [[nodiscard]] bool is_open() const { return !open_.empty(); }
  [[nodiscard]] const Json& value() const { return value_; }

  // Returns true if the key is new. REQUIRES: the value is open, and its innermost part is an
  // object.
  bool Key(std::string& key) {
    key_ = std::move(key);
    return !open_.back().json->contains(key_);
  }
  bool Add(Json&& json) { return Put(std::move(json)) != nullptr; }
  void Open(Json&& json) {
    Json* const placed = Put(std::move(json));
    open_.push_back({placed, MostElements(key_)});
  }
  void Close() { open_.pop_back(); }
  // Sets the outermost key, which the value belongs to.
  void Start(std::string key) { key_ = std::move(key); }

  // Tells whether the innermost open part is an array that may not grow.
  [[nodiscard]] bool IsFull() const {
    const Part& part = open_.back();
    return part.json->is_array() && part.json->size() == part.most;
  }
  [[nodiscard]] std::size_t most() const { return open_.back().most; }

 private:
  struct Part {
    Json* json;
    std::size_t most;
  };

  Json* Put(Json&& json) {
    if (open_.empty()) return &(value_ = std::move(json));
    Json& parent = *open_.back().json;
    if (parent.is_object()) return &(parent[key_] = std::move(json));
    parent.push_back(std::move(json));
    return &parent.back();
  }

  Json value_;
  std::vector<Part> open_;
  std::string key_;
};

// Makes runs from the calls of the parser. One member of a run, or one window, is built as JSON at
// a time, and is read into the run when it is complete.
class RunsHandler : public nlohmann::json_sax<Json> {
 public:
  RunsHandler(CountedBytes& bytes, const OnRun& on_run) : bytes_(bytes), on_run_(on_run) {}

  [[nodiscard]] std::optional<JsonProblem> TakeProblem() { return std::move(problem_); }

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool value) override { return Scalar(value); }
  bool number_integer(number_integer_t value) override { return Scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return Scalar(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Scalar(value);
  }
  bool string(string_t& value) override { return Scalar(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON has none

  bool start_object(std::size_t /*size*/) override {
    if (!BeginContainer()) return false;
    switch (place()) {
      case Place::kOutside:
      case Place::kRuns:
        StartRun();
        return true;
      case Place::kRun:
        if (IsArrayExpected()) return Refuse(kArrayExpected);
        break;
      case Place::kWindows:
      case Place::kPart:
      case Place::kSkipped:
        break;
    }
    return OpenPart(Json::object());
  }

  bool start_array(std::size_t /*size*/) override {
    if (!BeginContainer()) return false;
    switch (place()) {
      case Place::kOutside:
      case Place::kRuns:
        return Refuse(kObjectExpected);
      case Place::kRun:
        if (key_ == "windows") return Enter(Place::kWindows);
        if (key_ == "runs" && places_.size() == 1) {
          is_merged_ = true;
          merged_keys_ = std::move(keys_);
          return Enter(Place::kRuns);
        }
        break;
      case Place::kWindows:
      case Place::kPart:
      case Place::kSkipped:
        break;
    }
    return OpenPart(Json::array());
  }

  bool end_object() override { return EndContainer(); }
  bool end_array() override { return EndContainer(); }

  bool key(string_t& key) override {
    bytes_.EndToken();
    if (++places_.back().keys > kMostKeys) {
      return Refuse(
          fmt::format("more than {} keys in one object; run again what wrote it", kMostKeys));
    }
    if (place() == Place::kSkipped) return true;
    if (place() == Place::kRun) return StartMember(key);
    return builder_.Key(key) || StandsTwice(key);
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& error) override {
    if (bytes_.is_too_long()) {
      return Refuse(fmt::format("a text or number of more than {} MiB; run again what wrote it",
                                kMostTokenBytes >> 20));
    }
    if (bytes_.has_ended() && !is_whole_) return CutOff();
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) {
      is_scalar_ = true;
      return Refuse("a number is too large; run again what wrote it");
    }
    if (is_whole_) return Refuse("text after the end of the report; remove it");
    return Refuse("this is not JSON; run again what wrote it");
  }

 private:
  // Tells what the next value is a member of.
  enum class Place {
    kOutside,
    kRun,      // a run, or a merged report, which has the key "runs"
    kRuns,     // the runs of a merged report
    kWindows,  // the windows of a run
    kPart,     // a member or a window that is being built
    kSkipped,  // something that leakgate does not know
  };
  static constexpr std::size_t kContainerWeight = 3;
  static constexpr const char* kObjectExpected =
      "an object is expected here; run again what wrote it";
  static constexpr const char* kArrayExpected =
      "an array is expected here; run again what wrote it";
  [[nodiscard]] bool IsArrayExpected() const { return key_ == "windows" || key_ == "runs"; }

  [[nodiscard]] Place place() const {
    return places_.empty() ? Place::kOutside : places_.back().place;
  }
  bool Enter(Place place) {
    places_.push_back({place});
    return true;
  }

  void StartRun() {
    Enter(Place::kRun);
    run_ = {};
    keys_.clear();
    begin_ = bytes_.taken() - 1;
    values_ = 0;
  }

  bool StartMember(std::string& key) {
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return StandsTwice(key);
    keys_.push_back(key);
    key_ = std::move(key);
    is_known_ = key_ == "schema" || key_ == "windows" || key_ == "runs" || IsFieldOfRun(key_);
    return true;
  }

  // Values that are skipped take no memory, so they do not count. An object or an array counts as
  // `weight` values, because even an empty one takes memory of its own.
  bool Count(std::size_t weight = 1) {
    if (place() == Place::kSkipped || (place() == Place::kRun && !is_known_)) return true;
    values_ += weight;
    if (values_ > kMostValues) {
      return Refuse(
          fmt::format("the run report that begins at byte {} has more values than the {} that can "
                      "be taken apart at most; run its tests in shards",
                      begin_, kMostValues));
    }
    if (place() == Place::kWindows && run_.windows.size() == kMostRecords) {
      return TooManyElements(kMostRecords);
    }
    const bool is_full = place() == Place::kPart && builder_.IsFull();
    return !is_full || TooManyElements(builder_.most());
  }

  bool BeginContainer() {
    bytes_.EndToken();
    if (places_.size() < kMostDepth) return Count(kContainerWeight);
    return Refuse(fmt::format("nested deeper than {}; no report is", kMostDepth));
  }

  bool OpenPart(Json&& json) {
    if (place() == Place::kSkipped || (place() == Place::kRun && !is_known_)) {
      return Enter(Place::kSkipped);
    }
    if (place() == Place::kRun) builder_.Start(key_);
    builder_.Open(std::move(json));
    return Enter(Place::kPart);
  }

  bool EndContainer() {
    bytes_.EndToken();
    const Place ended = place();
    places_.pop_back();
    if (ended == Place::kRuns) keys_ = std::move(merged_keys_);
    if (ended == Place::kRun) return EndRun();
    if (ended != Place::kPart) return true;
    builder_.Close();
    return builder_.is_open() || OnValue(builder_.value());
  }

  bool Scalar(Json&& value) {
    bytes_.EndToken();
    is_scalar_ = true;
    const bool is_good =
        Count() && (builder_.is_open() ? builder_.Add(std::move(value)) : OnValue(value));
    is_scalar_ = false;
    return is_good;
  }

  // Takes a value that is no part of another: a member of a run, a window, or neither.
  bool OnValue(const Json& value) {
    switch (place()) {
      case Place::kRun:
        return OnMember(value);
      case Place::kWindows:
        return Check(ReadWindow(value, run_.windows.emplace_back()));
      case Place::kSkipped:
        return true;
      case Place::kOutside:
      case Place::kRuns:
      case Place::kPart:
        break;
    }
    return Refuse(kObjectExpected);
  }

  bool OnMember(const Json& value) {
    if (!is_known_) return true;
    if (key_ == "schema") return OnSchema(value);
    if (IsArrayExpected()) return Refuse(kArrayExpected);
    return Check(ReadFieldOfRun(value, key_, run_));
  }

  bool OnSchema(const Json& value) {
    if (!value.is_string()) return Refuse("a string is expected here; run again what wrote it");
    const auto& schema = value.get_ref<const std::string&>();
    is_report_ = is_report_ || IsSchemaOfReports(schema);
    if (schema == kRunSchema) return true;
    if (schema == kMergedSchema && places_.size() == 1) {
      has_merged_schema_ = true;
      return true;
    }
    return Refuse(fmt::format(
        "the schema '{}' is neither {} nor {}; merge it with the leakgate that wrote it, or run it "
        "again with this one",
        schema.substr(0, 40), kRunSchema, kMergedSchema));
  }

  bool EndRun() {
    is_whole_ = places_.empty();
    if (is_whole_ && is_merged_) return true;
    if (is_whole_ && has_merged_schema_) {
      return Refuse("the merged report that ends here lacks \"runs\"; merge again");
    }
    for (const std::string_view key : {"schema", "windows"}) {
      if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) return Lacks(key);
    }
    if (const auto missing = MissingFieldOfRun(keys_)) return Lacks(*missing);
    on_run_(std::move(run_), {begin_, bytes_.taken() - begin_});
    return true;
  }

  bool Check(const std::string& problem) { return problem.empty() || Refuse(problem); }
  bool Lacks(std::string_view key) {
    return Refuse(fmt::format("what ends here lacks \"{}\"; run again what wrote it", key));
  }
  bool StandsTwice(std::string_view key) {
    return Refuse(
        fmt::format("the key \"{}\" stands twice; run again what wrote it", key.substr(0, 40)));
  }
  bool TooManyElements(std::size_t most) {
    return Refuse(
        fmt::format("more than {} of these; run fewer tests at once, as in shards, and merge "
                    "their reports",
                    most));
  }
  bool CutOff() {
    problem_ = {.offset = bytes_.taken(),
                .is_behind_value = false,
                .is_cut_off = true,
                .is_report = is_report_,
                .text = "the file was cut off here; copy it again, or run again what wrote it"};
    return false;
  }
  // Always returns false, which ends the parser.
  bool Refuse(std::string text) {
    const std::uint64_t taken = bytes_.taken();
    problem_ = {.offset = is_scalar_ || taken == 0 ? taken : taken - 1,
                .is_behind_value = is_scalar_,
                .is_cut_off = false,
                .is_report = is_report_,
                .text = std::move(text)};
    return false;
  }

  CountedBytes& bytes_;
  const OnRun& on_run_;
  struct Container {
    Place place;
    std::size_t keys = 0;  // the keys that it has had so far
  };
  std::vector<Container> places_;  // from the outermost inwards
  bool is_scalar_ = false;         // the current value is a string, a number or a word
  bool is_known_ = false;          // leakgate knows the current member
  bool is_report_ = false;
  bool is_merged_ = false;
  bool has_merged_schema_ = false;
  bool is_whole_ = false;                 // the outermost object has ended
  std::string key_;                       // of the current member
  std::vector<std::string> keys_;         // of the run so far
  std::vector<std::string> merged_keys_;  // of the merged report around it
  ValueBuilder builder_;
  RunResult run_;
  std::uint64_t begin_ = 0;   // of the run
  std::uint64_t values_ = 0;  // of the run
  std::optional<JsonProblem> problem_;
};

// Looks for the schema among the members of the outermost object.
class SchemaHandler : public nlohmann::json_sax<Json> {
 public:
  explicit SchemaHandler(CountedBytes& bytes) : bytes_(bytes) {}

  [[nodiscard]] JsonSchema Take() { return std::move(found_); }

  bool null() override { return Next(); }
  bool boolean(bool /*value*/) override { return Next(); }
  bool number_integer(number_integer_t /*value*/) override { return Next(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return Next(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return Next(); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool string(string_t& value) override {
    if (depth_ == 1 && is_schema_) {
      found_.schema = std::move(value);
      found_.offset = bytes_.taken();
      return false;
    }
    return Next();
  }
  bool start_object(std::size_t /*size*/) override { return Next() && ++depth_ != 0; }
  bool end_object() override { return Next() && --depth_ != 0; }
  bool start_array(std::size_t /*size*/) override { return Next() && depth_++ != 0; }
  bool end_array() override { return Next() && --depth_ != 0; }
  bool key(string_t& key) override {
    is_schema_ = depth_ == 1 && key == "schema";
    return Next();
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    found_.is_cut_off = bytes_.has_ended() && !bytes_.is_too_long();
    found_.offset = bytes_.taken();
    return false;
  }

 private:
  // Goes on to the next token.
  bool Next() {
    bytes_.EndToken();
    return true;
  }

  CountedBytes& bytes_;
  std::size_t depth_ = 0;
  bool is_schema_ = false;
  JsonSchema found_;
};

template <typename Handler>
void Parse(CountedBytes& bytes, Handler& handler) {
  (void)Json::sax_parse(CountedBytes::Iterator(bytes), CountedBytes::Iterator(), &handler);
}

}  // namespace

bool IsSchemaOfReports(std::string_view schema) {
  return schema.starts_with("leakgate-report-") || schema.starts_with("leakgate-merged-");
}

std::optional<JsonProblem> ReadRuns(const ReadBytes& read, const OnRun& on_run) {
  CountedBytes bytes(read);
  RunsHandler handler(bytes, on_run);
  Parse(bytes, handler);
  return handler.TakeProblem();
}

JsonSchema ReadSchema(const ReadBytes& read) {
  CountedBytes bytes(read);
  SchemaHandler handler(bytes);
  Parse(bytes, handler);
  return handler.Take();
}

}  // namespace leakgate
