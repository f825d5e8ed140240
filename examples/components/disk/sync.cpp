#include "disk/sync.h"

#include "net/pool.h"

namespace disk {

int Sync(const std::string& file) {
  if (file.empty()) return 0;
  auto connection = net::Pool::Shared().Open();
  const int number = connection->number;
  net::Pool::Shared().Keep(std::move(connection));
  return number;
}

}  // namespace disk
