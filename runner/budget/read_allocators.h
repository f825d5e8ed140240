// Reads the "allocators" of a budget file.
#pragma once

#include <vector>

#include "runner/budget/json_fields.h"
#include "runner/budget/named_allocator.h"

namespace leakgate {

[[nodiscard]] Expected<std::vector<NamedAllocator>> ReadAllocators(const LocatedValue& value,
                                                                   const JsonPlace& place);

}  // namespace leakgate
