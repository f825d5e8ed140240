// Keeps the thread's last error, which belongs to the host, over calls of the agent's.
#pragma once

#include <windows.h>

namespace leakgate::agent {

class LastErrorKeeper {
 public:
  LastErrorKeeper() : error_(::GetLastError()) {}
  ~LastErrorKeeper() { ::SetLastError(error_); }
  LastErrorKeeper(const LastErrorKeeper&) = delete;
  LastErrorKeeper& operator=(const LastErrorKeeper&) = delete;

 private:
  const DWORD error_;
};

}  // namespace leakgate::agent
