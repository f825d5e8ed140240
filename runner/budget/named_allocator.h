// Functions of the program's own that give out and take back blocks of its pools, as budget files
// name them ("allocators").
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/entry_hooks.h"
#include "runner/base/word_table.h"

namespace leakgate {

template <>
struct WordTable<NamedCall> {
  static constexpr std::array kWords = {
      Named{NamedCall::kAllocate, "allocate"}, Named{NamedCall::kFree, "free"},
      Named{NamedCall::kReallocate, "reallocate"}, Named{NamedCall::kReset, "reset"},
      Named{NamedCall::kDestroy, "destroy"}};
};

// Arguments are counted from 1, as they stand in the parentheses.
struct NamedFunction {
  NamedCall call = NamedCall::kAllocate;
  std::string name;                // qualified, without parameters
  std::optional<unsigned> pool;    // what tells pools apart; else the object of a member function
  std::optional<unsigned> block;   // kFree, kReallocate
  std::optional<unsigned> size;    // kAllocate, kReallocate, in bytes
  std::optional<unsigned> count;   // the size is so many times larger
  std::optional<unsigned> result;  // points to where the block is stored; else it is returned
  bool is_optional = false;        // the program need not have it
  int line = 0;
};

struct NamedAllocator {
  std::filesystem::path file;  // the budget file
  int line = 0;
  std::vector<NamedFunction> functions;
};

inline constexpr unsigned kMostNamedArgument = 8;

}  // namespace leakgate
