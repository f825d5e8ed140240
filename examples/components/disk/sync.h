// Copies files to another machine.
#pragma once

#include <string>

namespace disk {

// The number of the connection that was used; it is kept for the next file.
int Sync(const std::string& file);

}  // namespace disk
