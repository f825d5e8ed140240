// Plugins by name, for as long as the program lives.
#pragma once

#include <string>

struct Plugin {
  std::string name;
};

// Never deleted: plugins may be asked for until the very end.
const Plugin& Register(const std::string& name);

int Registered();
