#include "net/pool.h"

namespace net {

Pool& Pool::Shared() {
  static auto* const pool = new Pool;
  return *pool;
}

std::unique_ptr<Connection> Pool::Open() {
  return std::make_unique<Connection>(Connection{++opened_});
}

void Pool::Keep(std::unique_ptr<Connection> connection) { kept_.push_back(std::move(connection)); }

}  // namespace net
