#include "tests/support/json_schema.h"

// clang-format off: the adapter needs nlohmann/json first
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop
// clang-format on

#include <fstream>
#include <stdexcept>

namespace leakgate::test {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

std::vector<std::string> SchemaErrors(const nlohmann::json& document,
                                      const nlohmann::json& schema) {
  valijson::Schema parsed;
  valijson::SchemaParser().populateSchema(Adapter(schema), parsed);

  valijson::ValidationResults results;
  valijson::Validator().validate(parsed, Adapter(document), &results);
  std::vector<std::string> errors;
  for (const valijson::ValidationResults::Error& error : results) {
    std::string place;
    for (const std::string& part : error.context) place += part;
    errors.push_back(place + ": " + error.description);
  }
  return errors;
}

std::vector<std::string> SchemaFileErrors(const nlohmann::json& document,
                                          const std::string& schema_file) {
  std::ifstream file(LEAKGATE_SOURCE_DIR "/" + schema_file);
  if (!file) throw std::runtime_error("cannot read the schema " + schema_file);
  return SchemaErrors(document, nlohmann::json::parse(file));
}

}  // namespace leakgate::test
