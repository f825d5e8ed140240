// The run report: everything that a run has found, for machines and for the writers
// of all formats.
//
// Each key is explained in docs/report-format.md; the schema that the output
// keeps to is docs/leakgate-report-2.schema.json. Pure: the same result gives
// the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// Its strings may hold what is not UTF-8; who writes them replaces it.
[[nodiscard]] nlohmann::ordered_json ToRunReport(const RunResult& result);

// The report's text, with a trailing newline. Never fails: what is not UTF-8
// in a name or a path comes out as U+FFFD.
[[nodiscard]] std::string ToJson(const RunResult& result);

}  // namespace leakgate
