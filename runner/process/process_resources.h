// What a process has at one moment besides its heap: open file descriptors and
// threads. From /proc; what cannot be read is as if it were not there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leakgate {

struct ProcessResources {
  std::map<int, std::string> file_descriptors;  // what each leads to
  std::map<int, std::string> threads;           // by tid: its name
};

// What `after` has and `before` had not.
struct ResourcesLeft {
  std::int64_t file_descriptors = 0;
  std::int64_t threads = 0;
  std::vector<std::string> names;  // "file descriptor 7: /tmp/db", "thread 'worker'"
};

[[nodiscard]] ProcessResources ReadResources(int pid);

// Pure.
[[nodiscard]] ResourcesLeft LeftBetween(const ProcessResources& before,
                                        const ProcessResources& after);

}  // namespace leakgate
