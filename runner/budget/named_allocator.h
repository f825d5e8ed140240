// Functions of the program's own that give out and take back blocks of its pools, as budget files
// name them ("allocators").
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/word_table.h"

namespace leakgate {

enum class PoolCall : std::uint8_t {
  kAllocate = 1,
  kFree = 2,
  kReallocate = 3,
  kReset = 4,    // takes back all of a pool's blocks
  kDestroy = 5,  // likewise, and the pool is gone
};
template <>
struct WordTable<PoolCall> {
  static constexpr std::array kWords = {
      Named{PoolCall::kAllocate, "allocate"}, Named{PoolCall::kFree, "free"},
      Named{PoolCall::kReallocate, "reallocate"}, Named{PoolCall::kReset, "reset"},
      Named{PoolCall::kDestroy, "destroy"}};
};

// Arguments are counted from 1, as they stand in the parentheses.
struct NamedFunction {
  PoolCall call = PoolCall::kAllocate;
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
