// The published schema and docs/budgets.md agree with the reader: the schema gives the same answer,
// except for what a schema cannot express; the document's example is a good budget file, and its
// table shows the messages that the reader really gives.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "runner/budget/read_budget.h"
#include "tests/support/json_schema.h"

namespace leakgate {
namespace {

bool SchemaAccepts(const std::string& budget) {
  const auto schema = nlohmann::json::parse(BudgetSchemaText());
  return test::SchemaErrors(nlohmann::json::parse(budget), schema).empty();
}

bool ReaderAccepts(const std::string& budget) {
  return ParseBudgetFile("a.json", budget).has_value();
}

std::string Net(const std::string& members) { return R"({"component": "net", )" + members + "}"; }
std::string OfTest(const std::string& limits) {
  return Net(R"("limits": {"test": )" + limits + "}");
}
std::string NetWithOverride(const std::string& members) {
  return Net(R"("overrides": [{"tests": ["A.*"], "reason": "x", )" + members + "}]");
}
std::string NetWithAllowance(const std::string& members) {
  return Net(R"("allowances": [{"stack": ["a"], "reason": "x", )" + members + "}]");
}

TEST(BudgetSchemaTest, IsTheOneThatIsPublished) {
  std::ifstream stream(LEAKGATE_SOURCE_DIR "/docs/leakgate-budget-1.schema.json");
  EXPECT_EQ(BudgetSchemaText(), (std::string{std::istreambuf_iterator<char>(stream), {}}));
}

TEST(BudgetSchemaTest, AcceptsWhatTheReaderAccepts) {
  for (const std::string& budget :
       {std::string(R"({"component": "net"})"),
        Net(R"("$schema": "x", "owner": "me")"),
        Net(R"("tests": ["A.*"], "binaries": ["net_*"])"),
        Net(R"("code": {"paths": ["a"], "functions": ["b"], "modules": ["c"]})"),
        Net(R"("free_by": "suite", "confirm": "inline", "threads": "test")"),
        Net(R"("free_by": "program", "confirm": "off", "threads": "process")"),
        Net(R"("allocators": [{"allocate": "A::Get", "free": "A::Put", "size": "argument 2"}])"),
        Net(R"("allocators": [{"prefix": "je_"}, {"reallocate": {"function": "r"}, "pool": )"
            R"("argument 1", "reset": "x", "destroy": "y"}])"),
        OfTest(R"({"outstanding": {"bytes": 0, "blocks": 1}, "lost": {"blocks": 0}})"),
        OfTest(R"({"retained": {"bytes": 1}, "growth": {"bytes": 1}, "allocated": {"bytes": 1}})"),
        OfTest(R"({"peak": {"bytes": 1}, "mapped": {"bytes": "1 MB"}, "threads": 0})"),
        OfTest(R"({"file_descriptors": 3})"),
        OfTest(R"({"growth": {"bytes": "1.5MiB"}})"),
        Net(R"("limits": {"suite": {"peak": {"bytes": 1}}, "program": {"peak": {"bytes": 1}}})"),
        Net(R"("overrides": [], "allowances": [])"),
        Net(R"("processes": ["helper*", "a"], "limits": {"process": {"lost": {"bytes": 1}}})"),
        NetWithOverride(R"("limits": {"process": {"outstanding": {"bytes": 1}}})"),
        NetWithOverride(R"("limits": {"test": {"threads": 1}, "suite": {"peak": {"bytes": 1}}})"),
        NetWithOverride(
            R"("free_by": "suite", "owner": "me", "issue": "1", "expires": "2026-12-31")"),
        NetWithAllowance(R"("tests": ["A.*"], "bytes": "1 kB", "blocks": 2, "owner": "me")"),
        NetWithAllowance(R"("issue": "1", "expires": "2028-02-29")")}) {
    EXPECT_TRUE(ReaderAccepts(budget)) << budget;
    EXPECT_TRUE(SchemaAccepts(budget)) << budget;
  }
}

TEST(BudgetSchemaTest, RefusesWhatTheReaderRefuses) {
  for (const std::string& budget :
       {std::string("[]"),
        std::string("{}"),
        std::string(R"({"component": ""})"),
        std::string(R"({"component": " \t"})"),
        std::string(R"({"component": 5})"),
        Net(R"("test": ["A.*"])"),
        Net(R"("allocators": [{}])"),
        Net(R"("allocators": [{"free": "f"}])"),
        Net(R"("allocators": [{"allocate": "a", "size": "argument 0"}])"),
        Net(R"("allocators": [{"allocate": {"size": "argument 1"}}])"),
        Net(R"("owner": null)"),
        Net(R"("tests": "A.*")"),
        Net(R"("tests": [])"),
        Net(R"("tests": [""])"),
        Net(R"("binaries": [1])"),
        Net(R"("code": {})"),
        Net(R"("code": {"path": ["a"]})"),
        Net(R"("code": {"paths": []})"),
        Net(R"("free_by": "end")"),
        Net(R"("confirm": true)"),
        Net(R"("threads": "all")"),
        Net(R"("limits": {})"),
        Net(R"("limits": {"tests": {}})"),
        OfTest("{}"),
        OfTest("0"),
        OfTest(R"({"leaked": 1})"),
        OfTest(R"({"outstanding": {}})"),
        OfTest(R"({"lost": 0})"),
        OfTest(R"({"lost": {"byte": 0}})"),
        OfTest(R"({"lost": {"bytes": -1}})"),
        OfTest(R"({"lost": {"bytes": 1.5}})"),
        OfTest(R"({"lost": {"bytes": true}})"),
        OfTest(R"({"lost": {"bytes": "64"}})"),
        OfTest(R"({"lost": {"bytes": "64 KB"}})"),
        OfTest(R"({"lost": {"bytes": "-1 KiB"}})"),
        OfTest(R"({"lost": {"blocks": "2"}})"),
        OfTest(R"({"peak": {"blocks": 1}})"),
        OfTest(R"({"peak": 1})"),
        OfTest(R"({"mapped": {}})"),
        OfTest(R"({"file_descriptors": -1})"),
        OfTest(R"({"threads": {"blocks": 1}})"),
        Net(R"("processes": [])"),
        Net(R"("processes": "helper")"),
        Net(R"("processes": ["bin/helper"])"),
        Net(R"("limits": {"process": {"threads": 1}})"),
        Net(R"("overrides": {})"),
        Net(R"("overrides": [5])"),
        Net(R"("overrides": [{"tests": ["A.*"], "reason": "x"}])"),
        Net(R"("overrides": [{"tests": ["A.*"], "free_by": "suite"}])"),
        Net(R"("overrides": [{"reason": "x", "free_by": "suite"}])"),
        NetWithOverride(R"("limits": {"program": {"peak": {"bytes": 1}}})"),
        NetWithOverride(R"("limits": {})"),
        NetWithOverride(R"("free_by": "suite", "expires": "31.12.2026")"),
        NetWithOverride(R"("free_by": "suite", "expires": "2026-13-01")"),
        NetWithOverride(R"("free_by": "suite", "because": "x")"),
        Net(R"("allowances": {})"),
        Net(R"("allowances": [{"stack": ["a"]}])"),
        Net(R"("allowances": [{"reason": "x"}])"),
        Net(R"("allowances": [{"stack": [], "reason": "x"}])"),
        Net(R"("allowances": [{"stack": ["a"], "reason": " "}])"),
        NetWithAllowance(R"("blocks": -1)"),
        NetWithAllowance(R"("limits": {})")}) {
    EXPECT_FALSE(ReaderAccepts(budget)) << budget;
    EXPECT_FALSE(SchemaAccepts(budget)) << budget;
  }
}

struct Inexpressible {
  const char* why;
  std::string budget;
};

TEST(BudgetSchemaTest, LeavesToTheReaderWhatASchemaCannotSay) {
  for (const Inexpressible& it :
       {Inexpressible{"a key twice", Net(R"("component": "http")")},
        Inexpressible{"a part of a byte", OfTest(R"({"lost": {"bytes": "1.3 KiB"}})")},
        Inexpressible{"too large a size", OfTest(R"({"lost": {"bytes": "8589934592 GiB"}})")},
        Inexpressible{"no such day", NetWithAllowance(R"("expires": "2026-02-30")")}}) {
    EXPECT_FALSE(ReaderAccepts(it.budget)) << it.why;
    EXPECT_TRUE(SchemaAccepts(it.budget)) << it.why;
  }
}

struct TableRow {
  std::string text;
  std::string message;
};

std::string ReadDoc() {
  std::ifstream stream(std::filesystem::path(LEAKGATE_SOURCE_DIR) / "docs" / "budgets.md");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string FirstJsonBlock(const std::string& doc) {
  const std::string opening = "```json\n";
  const std::size_t begin = doc.find(opening) + opening.size();
  return doc.substr(begin, doc.find("```", begin) - begin);
}

// The rows "| `{...` | `net.leakgate.json:...` |".
std::vector<TableRow> ErrorRows(const std::string& doc) {
  static const std::regex row(R"(\| `(\{[^`]*)` \| `(net\.leakgate\.json:[^`]*)` \|)");
  std::vector<TableRow> rows;
  for (std::sregex_iterator match(doc.begin(), doc.end(), row), end; match != end; ++match) {
    rows.push_back({(*match)[1], (*match)[2]});
  }
  return rows;
}

TEST(BudgetsDocTest, OpensWithAGoodBudgetFile) {
  const Expected<BudgetFile> file = ParseBudgetFile("docs/budgets.md", FirstJsonBlock(ReadDoc()));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->component, "net");
  EXPECT_EQ(file->overrides.size(), 1U);
  EXPECT_EQ(file->allowances.size(), 1U);
}

TEST(BudgetsDocTest, ShowsTheMessagesThatTheParserGives) {
  const std::vector<TableRow> rows = ErrorRows(ReadDoc());
  EXPECT_EQ(rows.size(), 20U);
  for (const TableRow& row : rows) {
    const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", row.text);
    ASSERT_FALSE(file) << row.text;
    EXPECT_EQ(file.error().message, row.message);
  }
}

}  // namespace
}  // namespace leakgate
