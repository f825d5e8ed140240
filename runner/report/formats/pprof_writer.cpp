#include <zlib.h>

#include <algorithm>
#include <map>
#include <new>
#include <tuple>
#include <vector>

#include "runner/report/finding_text.h"
#include "runner/report/formats/pprof_encoding.h"
#include "runner/report/formats/stack_samples.h"
#include "runner/report/formats/writers.h"
#include "runner/report/style.h"
#include "runner/result/words.h"

namespace leakgate {

namespace {

// The field numbers of profile.proto, message by message.
namespace profile_field {
enum { kSampleType = 1, kSample, kMapping, kLocation, kFunction, kStringTable };
enum { kPeriodType = 11, kPeriod = 12, kDefaultSampleType = 14 };
}  // namespace profile_field
namespace value_type_field {
enum { kType = 1, kUnit };
}
namespace sample_field {
enum { kLocationId = 1, kValue, kLabel };
}
namespace label_field {
enum { kKey = 1, kText };
}
namespace mapping_field {
enum { kId = 1, kMemoryStart, kMemoryLimit, kFileOffset, kFilename, kBuildId };
enum { kHasFunctions = 7, kHasFilenames, kHasLineNumbers, kHasInlineFrames };
}  // namespace mapping_field
namespace location_field {
enum { kId = 1, kMappingId, kAddress, kLine };
}
namespace line_field {
enum { kFunctionId = 1, kLine };
}
namespace function_field {
enum { kId = 1, kName, kSystemName, kFilename };
}

// Gives each distinct value an id, in the order of their first use.
template <typename Key>
class Table {
 public:
  // Ids from `first`.
  explicit Table(std::uint64_t first) : first_(first) {}

  std::uint64_t IdOf(const Key& key) {
    const auto [known, is_new] = ids_.emplace(key, first_ + keys_.size());
    if (is_new) keys_.push_back(key);
    return known->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::uint64_t first_;
  std::map<Key, std::uint64_t> ids_;
  std::vector<Key> keys_;
};

struct Function {
  std::uint64_t name, system_name, filename;  // in the string table
  auto operator<=>(const Function&) const = default;
};

struct Line {
  std::uint64_t function;
  std::uint64_t line;
  auto operator<=>(const Line&) const = default;
};

// What the profile has of a frame.
struct Place {
  Line line;
  std::uint64_t mapping;  // 0: none
};

// An instruction. It has several lines if functions were inlined there.
struct ProfileLocation {
  std::uint64_t mapping;  // 0: none
  std::uint64_t address;
  std::vector<Line> lines;  // innermost first
  auto operator<=>(const ProfileLocation&) const = default;
};

struct Sample {
  std::vector<std::uint64_t> locations;                         // innermost first
  std::vector<std::pair<std::uint64_t, std::uint64_t>> labels;  // texts
  auto operator<=>(const Sample&) const = default;
};

class PprofWriter {
 public:
  PprofWriter(std::ostream& out, const ReportSurroundings& surroundings, const std::string& memory)
      : out_(out), root_(surroundings.source_root), memory_(memory) {
    (void)texts_.IdOf("");  // the first one must be
  }

  void Add(const StackSample& sample) { amounts_[ToSample(sample)] += sample.amount; }

  void Finish() {
    ProtobufMessage message;
    message.AddMessage(profile_field::kSampleType, ValueType(memory_ + "_objects", "count"));
    message.AddMessage(profile_field::kSampleType, ValueType(memory_ + "_space", "bytes"));
    for (const auto& [sample, amount] : amounts_) {
      message.AddMessage(profile_field::kSample, SampleMessage(sample, amount));
    }
    AddMappings(message);
    AddLocations(message);
    AddFunctions(message);
    message.AddMessage(profile_field::kPeriodType, ValueType("space", "bytes"));
    message.AddNumber(profile_field::kPeriod, 1);
    message.AddNumber(profile_field::kDefaultSampleType, texts_.IdOf(memory_ + "_space"));
    for (const std::string& text : texts_.keys())
      message.AddBytes(profile_field::kStringTable, text);
    out_ << Gzip(message.bytes());
  }

 private:
  std::uint64_t TextId(std::string_view text) { return texts_.IdOf(Printable(text)); }

  Sample ToSample(const StackSample& stack) {
    Sample sample;
    ProfileLocation location = {};
    const auto place_of = [this](const Frame& frame) {
      return Place{LineOf(frame), MappingOf(frame)};
    };
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      const Frame& frame = stack.frames[i];
      const Place& place = places_.Of(frame, place_of);
      location.lines.push_back(place.line);
      const bool goes_on = frame.inlined && i + 1 < stack.frames.size();
      if (goes_on) continue;
      location.mapping = place.mapping;
      location.address = frame.module_offset;
      sample.locations.push_back(locations_.IdOf(location));
      location = {};
    }
    const auto label = [&](const char* key, std::string_view text) {
      if (!text.empty()) sample.labels.emplace_back(TextId(key), TextId(text));
    };
    label("test", Printable(stack.root));
    label("component", stack.component);
    label("disposition", stack.disposition);
    return sample;
  }

  Line LineOf(const Frame& frame) {
    const std::string file = frame.file.empty() ? "" : RelativePath(frame.file, root_);
    const Function function = {TextId(ProfileFrameName(frame)), TextId(frame.function),
                               TextId(file)};
    return {functions_.IdOf(function), static_cast<std::uint64_t>(std::max(frame.line, 0))};
  }

  std::uint64_t MappingOf(const Frame& frame) {
    if (frame.module.empty()) return 0;
    const std::uint64_t id = mappings_.IdOf(TextId(frame.module));
    std::uint64_t& limit = limits_[id];
    limit = std::max(limit, frame.module_offset + 1);
    return id;
  }

  ProtobufMessage ValueType(const std::string& type, const char* unit) {
    ProtobufMessage message;
    message.AddNumber(value_type_field::kType, TextId(type));
    message.AddNumber(value_type_field::kUnit, TextId(unit));
    return message;
  }

  static ProtobufMessage SampleMessage(const Sample& sample, Amount amount) {
    ProtobufMessage message;
    message.AddPacked(sample_field::kLocationId, sample.locations);
    message.AddPacked(sample_field::kValue, {static_cast<std::uint64_t>(amount.blocks),
                                             static_cast<std::uint64_t>(amount.bytes)});
    for (const auto& [key, text] : sample.labels) {
      ProtobufMessage label;
      label.AddNumber(label_field::kKey, key);
      label.AddNumber(label_field::kText, text);
      message.AddMessage(sample_field::kLabel, label);
    }
    return message;
  }

  // Writes a mapping for each module, at the addresses of its own file. It says that all symbols
  // are known, so that pprof does not look for the files.
  void AddMappings(ProtobufMessage& profile) {
    std::uint64_t id = 0;
    for (const std::uint64_t filename : mappings_.keys()) {
      ProtobufMessage message;
      message.AddNumber(mapping_field::kId, ++id);
      message.AddNumber(mapping_field::kMemoryLimit, limits_.at(id));
      message.AddNumber(mapping_field::kFilename, filename);
      for (const int known : {mapping_field::kHasFunctions, mapping_field::kHasFilenames,
                              mapping_field::kHasLineNumbers, mapping_field::kHasInlineFrames}) {
        message.AddNumber(static_cast<std::uint32_t>(known), 1);
      }
      profile.AddMessage(profile_field::kMapping, message);
    }
  }

  void AddLocations(ProtobufMessage& profile) const {
    std::uint64_t id = 0;
    for (const ProfileLocation& location : locations_.keys()) {
      ProtobufMessage message;
      message.AddNumber(location_field::kId, ++id);
      message.AddNumber(location_field::kMappingId, location.mapping);
      message.AddNumber(location_field::kAddress, location.address);
      for (const Line& line : location.lines) {
        ProtobufMessage line_message;
        line_message.AddNumber(line_field::kFunctionId, line.function);
        line_message.AddNumber(line_field::kLine, line.line);
        message.AddMessage(location_field::kLine, line_message);
      }
      profile.AddMessage(profile_field::kLocation, message);
    }
  }

  void AddFunctions(ProtobufMessage& profile) const {
    std::uint64_t id = 0;
    for (const Function& function : functions_.keys()) {
      ProtobufMessage message;
      message.AddNumber(function_field::kId, ++id);
      message.AddNumber(function_field::kName, function.name);
      message.AddNumber(function_field::kSystemName, function.system_name);
      message.AddNumber(function_field::kFilename, function.filename);
      profile.AddMessage(profile_field::kFunction, message);
    }
  }

  std::ostream& out_;
  std::string root_;
  std::string memory_;
  Table<std::string> texts_{0};
  Table<std::uint64_t> mappings_{1};  // by file name
  Table<Function> functions_{1};
  Table<ProfileLocation> locations_{1};
  FrameTable<Place> places_;
  std::map<std::uint64_t, std::uint64_t> limits_;  // of mappings: past the last address seen
  std::map<Sample, Amount> amounts_;
};

}  // namespace

ProfileWriter NewPprofProfile(std::ostream& out, const ReportSurroundings& surroundings,
                              std::string_view memory) {
  return MakeProfileWriter<PprofWriter>(out, surroundings, std::string(memory));
}

std::string Gzip(const std::string& text) {
  constexpr int kGzipWindowBits = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  // zlib counts in 32 bits, so the text and the result are passed in parts.
  std::string compressed;
  char part[1 << 16];
  std::string input = text;  // zlib's interface is not const
  std::size_t at = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < input.size()) {
      const std::size_t length = std::min<std::size_t>(input.size() - at, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(input.data() + at);
      stream.avail_in = static_cast<uInt>(length);
      at += length;
    }
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof(part);
    status = deflate(&stream, at == input.size() ? Z_FINISH : Z_NO_FLUSH);
    compressed.append(part, sizeof(part) - stream.avail_out);
  }
  deflateEnd(&stream);
  return compressed;
}

}  // namespace leakgate
