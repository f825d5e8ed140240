// What a process has at one moment besides its heap: open file descriptors,
// threads, mappings. From /proc; what cannot be read is as if it were not there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leakgate {

struct ProcessResources {
  struct Mapping {
    std::uint64_t end = 0;
    std::string name;  // of the file; empty: none
  };
  std::map<int, std::string> file_descriptors;  // what each leads to
  std::map<int, std::string> threads;           // by tid: its name
  std::map<std::uint64_t, Mapping> mappings;    // by address; neither stacks nor the break heap
};

// What `after` has and `before` had not.
struct ResourcesLeft {
  std::int64_t file_descriptors = 0;
  std::int64_t threads = 0;
  std::int64_t mapped_bytes = 0;
  std::vector<std::string> names;  // "file descriptor 7: /tmp/db", "thread 'worker'"
};

[[nodiscard]] ProcessResources ReadResources(int pid);

// Mappings that hold any of `others` (sorted addresses: of the allocator's pages,
// threads' stacks, the agent's memory) do not count. Pure.
[[nodiscard]] ResourcesLeft LeftBetween(const ProcessResources& before,
                                        const ProcessResources& after,
                                        const std::vector<std::uint64_t>& others);

}  // namespace leakgate
