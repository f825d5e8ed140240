#include "runner/cli/app/option_list.h"

#include <algorithm>

namespace leakgate {

OptionList::Bound OptionList::Named(std::string_view names, OptionValue value,
                                    std::string description) {
  Bound bound{{{}, std::move(value), std::move(description)}, {}};
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    bound.option.names.emplace_back(names.substr(at, end - at));
    at = end + 1;
  }
  return bound;
}

std::string OptionList::NameInMessages(const Option& option) {
  const auto found = std::find_if(option.names.begin(), option.names.end(),
                                  [](const std::string& name) { return name.starts_with("--"); });
  return found == option.names.end() ? option.names.front() : *found;
}

}  // namespace leakgate
