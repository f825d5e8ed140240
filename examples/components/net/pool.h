// Connections that are opened and, some of them, kept for later.
#pragma once

#include <memory>
#include <vector>

namespace net {

struct Connection {
  int number;
};

class Pool {
 public:
  // Lives as long as the program.
  static Pool& Shared();

  std::unique_ptr<Connection> Open();
  void Keep(std::unique_ptr<Connection> connection);

 private:
  int opened_ = 0;
  std::vector<std::unique_ptr<Connection>> kept_;
};

}  // namespace net
