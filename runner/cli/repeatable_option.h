// Options that may be given several times, each time with one value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace leakgate {

// What follows the value is not the option's: it may be a file.
inline CLI::Option* Repeatable(CLI::Option* option, const std::string& value) {
  return option->type_name(value)->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace leakgate
