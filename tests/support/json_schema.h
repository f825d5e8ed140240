// JSON documents against JSON Schemas, by a validator that nobody here wrote.
// The validator takes half a minute to compile: here it is compiled once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace leakgate::test {

// What is wrong with `document`, a line each with the place; empty: nothing.
// Throws std::runtime_error if `schema` is none.
std::vector<std::string> SchemaErrors(const nlohmann::json& document, const nlohmann::json& schema);

// The same for a schema in a file, by its path from the source directory. Throws
// likewise if it cannot be read.
std::vector<std::string> SchemaFileErrors(const nlohmann::json& document,
                                          const std::string& schema_file);

}  // namespace leakgate::test
