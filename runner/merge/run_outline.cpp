#include "runner/merge/run_outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "runner/report/json_words.h"

namespace leakgate {
namespace {

// The enumerator whose word it is.
template <typename Enum, std::size_t count>
bool ReadWord(JsonScanner& scanner, const std::array<Enum, count>& all, const char* (*word)(Enum),
              Enum& value) {
  std::string_view text;
  if (!scanner.String(text)) return false;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](Enum it) { return text == word(it); });
  if (found == all.end()) {
    return scanner.Refuse(fmt::format("'{}' is no word that {} has here; run again what wrote it",
                                      text.substr(0, 40), kRunSchema));
  }
  value = *found;
  return true;
}

bool ReadText(JsonScanner& scanner, std::string& value) {
  std::string_view text;
  if (!scanner.String(text)) return false;
  value.assign(text);
  return true;
}

bool ReadTextOrNull(JsonScanner& scanner, std::string& value) {
  if (scanner.Peek() == JsonType::kNull) return scanner.Null();
  return ReadText(scanner, value);
}

// An array of what an outline keeps: at most so many in all of a run, of which `kept` counts,
// and so many here. What a report says in two bytes, "{}", takes hundreds in memory.
template <typename ReadRecord>
bool ReadRecords(JsonScanner& scanner, std::size_t& kept, const ReadRecord& read,
                 std::size_t most = kMostRecords) {
  const std::size_t before = kept;
  return scanner.Array([&] {
    if (kept - before == most || kept == kMostRecords) {
      return scanner.Refuse(
          fmt::format("more than {} of these; run fewer tests at once, as in shards, and merge "
                      "their reports",
                      kept - before));
    }
    ++kept;
    return read();
  });
}

bool ReadTexts(JsonScanner& scanner, std::size_t& kept, std::vector<std::string>& values) {
  return ReadRecords(scanner, kept, [&] { return ReadText(scanner, values.emplace_back()); });
}

// The kernel knows no longer path. It is told with each test of the run.
bool ReadBinary(JsonScanner& scanner, std::string& binary) {
  constexpr std::size_t kMostBytes = 4096;
  if (!ReadText(scanner, binary)) return false;
  if (binary.size() <= kMostBytes) return true;
  return scanner.Refuse(
      fmt::format("a path of more than {} bytes; run again what wrote it", kMostBytes));
}

bool ReadSmall(JsonScanner& scanner, int& value) {
  std::int64_t number = 0;
  if (!scanner.Integer(number)) return false;
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    return scanner.Refuse("a number from 0 on is expected here; run again what wrote it");
  }
  value = static_cast<int>(number);
  return true;
}

bool ReadSmallOrNull(JsonScanner& scanner, std::optional<int>& value) {
  if (scanner.Peek() == JsonType::kNull) return scanner.Null();
  return ReadSmall(scanner, value.emplace());
}

bool ReadAmount(JsonScanner& scanner, Amount& amount) {
  return scanner.Object([&](std::string_view key) {
    if (key == "bytes") return scanner.Integer(amount.bytes);
    if (key == "blocks") return scanner.Integer(amount.blocks);
    return scanner.Any();
  });
}

bool ReadProgram(JsonScanner& scanner, ProgramExit& program) {
  return scanner.Object([&](std::string_view key) {
    if (key == "exit_code") return ReadSmallOrNull(scanner, program.exit_code);
    if (key == "signal") return ReadSmallOrNull(scanner, program.signal);
    return scanner.Any();
  });
}

bool ReadShard(JsonScanner& scanner, std::optional<Shard>& shard) {
  shard.emplace();
  const bool read = scanner.Object([&](std::string_view key) {
    if (key == "index") return ReadSmall(scanner, shard->index);
    if (key == "total") return ReadSmall(scanner, shard->total);
    return scanner.Any();
  });
  if (!read) return false;
  if (shard->index < shard->total) return true;
  return scanner.Refuse("a shard's index must be below its total; run again what wrote it");
}

bool ReadViolation(JsonScanner& scanner, Violation& violation) {
  return scanner.Object([&](std::string_view key) {
    if (key == "metric") return ReadText(scanner, violation.metric);
    if (key == "actual") return scanner.Integer(violation.actual);
    if (key == "limit") return scanner.Integer(violation.limit.value);
    if (key == "component") return ReadTextOrNull(scanner, violation.component);
    return scanner.Any();
  });
}

bool ReadFreeError(JsonScanner& scanner, std::int64_t& count) {
  ++count;
  return scanner.Object([&](std::string_view key) {
    if (key != "baseline") return scanner.Any();
    std::string_view state;
    if (!scanner.String(state)) return false;
    if (state == "known") --count;
    return true;
  });
}

// Told of a key that this leakgate needs.
class Needed {
 public:
  explicit Needed(std::vector<std::string_view> keys) : keys_(std::move(keys)) {}

  // False: it was there before.
  bool Note(std::string_view key, JsonScanner& scanner) {
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    if (found == keys_.end()) return true;
    const auto bit = 1u << (found - keys_.begin());
    if ((seen_ & bit) != 0) {
      return scanner.Refuse(
          fmt::format("the key \"{}\" stands twice; run again what wrote it", key));
    }
    seen_ |= bit;
    return true;
  }

  // Behind the object.
  bool Require(JsonScanner& scanner) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if ((seen_ & (1u << i)) != 0) continue;
      return scanner.Refuse(
          fmt::format("what ends here lacks \"{}\"; run again what wrote it", keys_[i]));
    }
    return true;
  }

 private:
  std::vector<std::string_view> keys_;
  unsigned seen_ = 0;
};

bool ReadWindow(JsonScanner& scanner, std::size_t& kept, WindowOutline& window) {
  static constexpr std::array kKinds = {WindowKind::kTest, WindowKind::kSuite, WindowKind::kProgram,
                                        WindowKind::kProcess};
  static constexpr std::array kVerdicts = {Verdict::kPass, Verdict::kOverBudget,
                                           Verdict::kInconclusive, Verdict::kUnconfirmed,
                                           Verdict::kNotGated};
  Needed needed({"kind", "name", "verdict", "violations"});
  const bool read = scanner.Object([&](std::string_view key) {
    if (!needed.Note(key, scanner)) return false;
    if (key == "kind") return ReadWord(scanner, kKinds, Word, window.kind);
    if (key == "name") return ReadText(scanner, window.name);
    if (key == "verdict") return ReadWord(scanner, kVerdicts, Word, window.verdict);
    if (key == "reason") return ReadText(scanner, window.reason);
    if (key == "component") return ReadTextOrNull(scanner, window.component);
    if (key == "outstanding") return ReadAmount(scanner, window.outstanding);
    if (key == "lost") return ReadAmount(scanner, window.lost);
    if (key == "retained") return ReadAmount(scanner, window.retained);
    if (key == "growth") return ReadAmount(scanner, window.growth);
    if (key == "allocated") return ReadAmount(scanner, window.allocated);
    if (key == "mapped_bytes") return scanner.Integer(window.mapped.bytes);
    if (key == "mapped_blocks") return scanner.Integer(window.mapped.blocks);
    if (key == "violations") {
      return ReadRecords(
          scanner, kept, [&] { return ReadViolation(scanner, window.violations.emplace_back()); },
          kMostViolations);
    }
    if (key == "free_errors") {
      return ReadRecords(
          scanner, kept, [&] { return ReadFreeError(scanner, window.free_errors); },
          kMostFreeErrors);
    }
    return scanner.Any();
  });
  return read && needed.Require(scanner);
}

bool ReadSchema(JsonScanner& scanner) {
  std::string_view schema;
  if (!scanner.String(schema)) return false;
  if (schema == kRunSchema) return true;
  return scanner.Refuse(
      fmt::format("the schema '{}' is not {}; merge it with the leakgate that "
                  "wrote it, or run it again with this one",
                  schema.substr(0, 40), kRunSchema));
}

bool ReadMember(JsonScanner& scanner, std::string_view key, std::size_t& kept, RunOutline& run) {
  static constexpr std::array kVerdicts = {Verdict::kPass, Verdict::kOverBudget,
                                           Verdict::kInconclusive, Verdict::kUnconfirmed};
  static constexpr std::array kModes = {GateMode::kGate, GateMode::kStrict, GateMode::kWarnOnly};
  if (key == "schema") return ReadSchema(scanner);
  if (key == "binary") return ReadBinary(scanner, run.binary);
  if (key == "arguments") return ReadTexts(scanner, kept, run.arguments);
  if (key == "verdict") return ReadWord(scanner, kVerdicts, RunWord, run.verdict);
  if (key == "exit_code") return ReadSmall(scanner, run.exit_code);
  if (key == "program") return ReadProgram(scanner, run.program);
  if (key == "mode") return ReadWord(scanner, kModes, Word, run.mode);
  if (key == "shard") return ReadShard(scanner, run.shard);
  if (key == "reasons") return ReadTexts(scanner, kept, run.reasons);
  if (key == "failures") return ReadTexts(scanner, kept, run.failures);
  if (key == "windows") {
    return ReadRecords(scanner, kept,
                       [&] { return ReadWindow(scanner, kept, run.windows.emplace_back()); });
  }
  return scanner.Any();
}

}  // namespace

bool ReadRun(JsonScanner& scanner, RunOutline& run) {
  Needed needed({"schema", "binary", "arguments", "verdict", "exit_code", "program", "mode",
                 "reasons", "failures", "windows"});
  std::size_t kept = 0;
  const bool read = scanner.Object([&](std::string_view key) {
    return needed.Note(key, scanner) && ReadMember(scanner, key, kept, run);
  });
  if (!read || !needed.Require(scanner)) return false;
  run.content = scanner.digest();
  return true;
}

}  // namespace leakgate
