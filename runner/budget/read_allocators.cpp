#include "runner/budget/read_allocators.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kAllocatorExample =
    R"({"allocate": "Arena::Alloc", "free": "Arena::Free"})";
constexpr std::string_view kFunctionExample = R"("Arena::Alloc")";
constexpr std::string_view kPrefixExample = R"("je_")";
constexpr std::string_view kArgumentExample = R"("argument 1")";

Expected<std::optional<unsigned>> ReadArgument(const LocatedValue& value, const JsonPlace& place) {
  constexpr std::string_view kWord = "argument ";
  if (value.kind != JsonKind::kString) return WrongType(value, place, "a string", kArgumentExample);
  unsigned number = 0;
  const std::string_view text = value.text;
  if (text.starts_with(kWord)) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + kWord.size(), end, number);
    if (error != std::errc() || rest != end) number = 0;
  }
  if (number >= 1 && number <= kMostNamedArgument) return number;
  return place.ErrorAt(
      value, fmt::format("{} is no argument; write \"argument 1\" to \"argument {}\", counted as "
                         "they stand in the parentheses",
                         Quoted(text), kMostNamedArgument));
}

std::vector<JsonField> ArgumentsOf(NamedFunction& function) {
  return {{"pool", Into(function.pool, ReadArgument)},
          {"block", Into(function.block, ReadArgument)},
          {"size", Into(function.size, ReadArgument)},
          {"count", Into(function.count, ReadArgument)},
          {"result", Into(function.result, ReadArgument)}};
}

// A name, or an object with the name and with arguments of its own.
Expected<NamedFunction> ReadFunction(const LocatedValue& value, const JsonPlace& place) {
  NamedFunction function;
  function.line = value.line;
  if (value.kind == JsonKind::kObject) {
    std::vector<JsonField> fields = ArgumentsOf(function);
    fields.push_back(
        {"function", Into(function.name, ReadText, kFunctionExample), R"("function": "NAME")"});
    LEAKGATE_TRY(ReadObject(value, place, fields, R"({"function": "Arena::Alloc"})"));
  } else {
    LEAKGATE_TRY_ASSIGN(function.name, ReadText(value, place, kFunctionExample));
  }
  const std::size_t bad = function.name.find('(');
  if (bad != std::string::npos) {
    return place.ErrorAt(value,
                         fmt::format("{} has a '{}'; write the qualified name alone, such as {}",
                                     Quoted(function.name), function.name[bad], kFunctionExample));
  }
  return function;
}

// What a function of an allocator has where it says nothing itself. What tells pools apart comes
// first, then the block, then the size.
void Complete(const NamedFunction& given, NamedFunction& function) {
  if (!function.pool) function.pool = given.pool;
  if (!function.count) function.count = given.count;
  const unsigned first = function.pool.value_or(0) + 1;
  const bool has_block =
      function.call == NamedCall::kFree || function.call == NamedCall::kReallocate;
  if (has_block && !function.block) function.block = given.block ? given.block : first;
  if (function.call == NamedCall::kAllocate) {
    if (!function.size) function.size = given.size ? given.size : first;
    if (!function.result) function.result = given.result;
  } else if (function.call == NamedCall::kReallocate && !function.size) {
    function.size = *function.block + 1;
  }
}

// The functions that libraries of allocators have under a prefix of their own.
std::vector<NamedFunction> FunctionsWith(const std::string& prefix, int line) {
  const auto make = [&](NamedCall call, std::string_view name) {
    NamedFunction function;
    function.call = call;
    function.name = prefix + std::string(name);
    function.is_optional = name != "malloc" && name != "free";
    function.line = line;
    return function;
  };
  const auto allocate = [&](std::string_view name, unsigned size) {
    NamedFunction function = make(NamedCall::kAllocate, name);
    function.size = size;
    return function;
  };
  NamedFunction calloc = allocate("calloc", 2);
  calloc.count = 1;
  NamedFunction posix_memalign = allocate("posix_memalign", 3);
  posix_memalign.result = 1;
  NamedFunction realloc = make(NamedCall::kReallocate, "realloc");
  realloc.block = 1;
  realloc.size = 2;
  NamedFunction reallocarray = make(NamedCall::kReallocate, "reallocarray");
  reallocarray.block = 1;
  reallocarray.count = 2;
  reallocarray.size = 3;
  std::vector<NamedFunction> functions = {allocate("malloc", 1),
                                          calloc,
                                          realloc,
                                          reallocarray,
                                          allocate("memalign", 2),
                                          allocate("aligned_alloc", 2),
                                          posix_memalign,
                                          allocate("valloc", 1),
                                          allocate("pvalloc", 1)};
  for (const std::string_view name : {"free", "cfree", "free_sized", "free_aligned_sized"}) {
    functions.push_back(make(NamedCall::kFree, name));
    functions.back().block = 1;
  }
  return functions;
}

Expected<NamedAllocator> ReadAllocator(const LocatedValue& value, const JsonPlace& place) {
  NamedAllocator allocator{.file = place.file, .line = value.line, .functions = {}};
  NamedFunction given;
  std::string prefix;
  std::vector<JsonField> fields = ArgumentsOf(given);
  for (const auto& named : WordTable<NamedCall>::kWords) {
    fields.push_back({named.word, [&allocator, call = named.value](const LocatedValue& function,
                                                                   const JsonPlace& at) {
                        Expected<NamedFunction> read = ReadFunction(function, at);
                        if (!read) return at.Keep(std::move(read).error());
                        read->call = call;
                        allocator.functions.push_back(*std::move(read));
                        return Expected<void>();
                      }});
  }
  fields.push_back({"prefix", Into(prefix, ReadText, kPrefixExample)});
  LEAKGATE_TRY(ReadNonEmptyObject(value, place, fields, kAllocatorExample));
  for (NamedFunction& function : allocator.functions) Complete(given, function);
  if (!prefix.empty()) {
    const std::vector<NamedFunction> more = FunctionsWith(prefix, value.line);
    allocator.functions.insert(allocator.functions.end(), more.begin(), more.end());
  }
  const auto is_allocate = [](const NamedFunction& function) {
    return function.call == NamedCall::kAllocate || function.call == NamedCall::kReallocate;
  };
  if (std::none_of(allocator.functions.begin(), allocator.functions.end(), is_allocate)) {
    return place.ErrorAt(value, fmt::format("names no function that allocates; write, for example, "
                                            "{}",
                                            kAllocatorExample));
  }
  return allocator;
}

}  // namespace

Expected<std::vector<NamedAllocator>> ReadAllocators(const LocatedValue& value,
                                                     const JsonPlace& place) {
  return ReadList(value, place, ReadAllocator, fmt::format("[{}]", kAllocatorExample));
}

}  // namespace leakgate
