// The published schema of budget files, docs/leakgate-budget-1.schema.json, compiled into the
// runner.
#pragma once

#include <string_view>

namespace leakgate {

[[nodiscard]] std::string_view BudgetSchemaText();

}  // namespace leakgate
