// Makes the part of the page that knows what the runner writes: report-ui/src/fields.ts. It comes
// from the same tables by which html_writer.cpp writes, so that the page's other files cannot read
// what is not there.
//
//   page_fields FILE           exits with 1 if the file says something else
//   page_fields FILE --update  writes it
#include "runner/report/formats/page_fields.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leakgate {
namespace {

// How a run is written, and how a window.
enum class Form { kReport, kPage };

// A visitor of fields that lists them as members of a TypeScript type.
template <Form form>
class TypeMembers {
 public:
  static constexpr bool kReads = false;

  explicit TypeMembers(std::size_t depth) : depth_(depth) {}

  // Returns "{\n  key?: type;\n}".
  [[nodiscard]] std::string Take() const {
    return fmt::format("{{\n{}{:{}}}}", members_, "", 2 * depth_);
  }

  template <typename T>
  void Required(std::string_view key, const T& value) {
    constexpr bool kIsText = std::is_convertible_v<const T&, std::string_view>;
    Add(key, kIsText && !IsInternedOnPage(key) ? "string" : TypeOf(value));
  }
  template <typename T>
  void WithDefault(std::string_view key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(std::string_view key, const T& value, bool /*is_written*/) {
    Required(key, value);
  }
  template <typename Visit>
  void Group(std::string_view key, const Visit& visit) {
    TypeMembers group(depth_ + 1);
    visit(group);
    Add(key, group.Take());
  }

 private:
  void Add(std::string_view key, const std::string& type) {
    members_ += fmt::format("{:{}}{}?: {};\n", "", 2 * depth_ + 2, key, type);
  }

  // What a form has in another way than the other. The page leaves out what is null.
  static std::string Text() { return form == Form::kPage ? "TextIndex" : "string"; }
  static std::string OrNullOf(const std::string& type) {
    return form == Form::kPage ? type : type + " | null";
  }

  template <typename T>
  std::string TypeOf(const T& value) const {
    if constexpr (std::is_same_v<T, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return "number";
    } else if constexpr (std::is_enum_v<T> || std::is_convertible_v<const T&, std::string_view>) {
      return Text();
    } else if constexpr (form == Form::kPage && std::is_same_v<T, Amount>) {
      return "BytesAndBlocks";
    } else {
      TypeMembers members(depth_ + 1);
      VisitFields(members, value);
      return members.Take();
    }
  }
  template <typename T>
  std::string TypeOf(const std::optional<T>& /*value*/) const {
    return OrNullOf(TypeOf(T{}));
  }
  template <typename T>
  std::string TypeOf(const OrNull<T>& member) const {
    return OrNullOf(TypeOf(member.value));
  }
  template <typename T>
  std::string TypeOf(const std::vector<T>& /*values*/) const {
    return TypeOf(T{}) + "[]";
  }
  template <typename T>
  std::string TypeOf(const std::map<std::string, T>& /*values*/) const {
    return fmt::format("Record<string, {}>", TypeOf(T{}));
  }
  template <typename T>
  std::string TypeOf(const Seconds<T>& /*member*/) const {
    return "number";
  }
  template <typename T>
  std::string TypeOf(const OfRun<T>& /*member*/) const {
    return "string";
  }
  std::string TypeOf(const Finding& /*finding*/) const { return "Row"; }
  std::string TypeOf(const TopAllocator& /*allocator*/) const { return "Row"; }
  std::string TypeOf(const PageCause& /*cause*/) const { return "Row"; }
  std::string TypeOf(const TopAllocators& top) const { return TypeOf(PageTopAllocators{top}); }

  const std::size_t depth_;
  std::string members_;
};

// Lists the columns of a row.
class ColumnList {
 public:
  template <typename T>
  void Add(std::string_view key, const T& /*value*/) {
    text_ += fmt::format("  {}: {},\n", key, count_++);
  }
  template <typename T>
  void AddIf(std::string_view key, const T& value, bool /*is_written*/) {
    Add(key, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  int count_ = 0;
  std::string text_;
};

template <typename Value>
std::string Columns(std::string_view name, const Value& value) {
  ColumnList columns;
  VisitColumns(columns, value);
  return fmt::format("export const {} = {{\n{}}} as const;\n", name, columns.text());
}

template <Form form, typename Value>
std::string Type(std::string_view name, const Value& value) {
  TypeMembers<form> members(0);
  VisitFields(members, value);
  return fmt::format("export interface {} {}\n", name, members.Take());
}

std::string FieldsFile() {
  const Finding finding;
  const WindowResult window;
  return "// What the runner writes of runs and windows. Made by tests/html_report/page_fields.cpp "
         "from the\n"
         "// tables in runner/report/json/fields.h and runner/report/formats/page_fields.h: change "
         "those.\n"
         "\n"
         "export type TextIndex = number; // of the page's strings\n"
         "export type BytesAndBlocks = [number, number];\n"
         "export type Row = (number | number[] | Row[])[]; // by column; zeros at the end are left "
         "out\n"
         "\n"
         "// The columns of a finding, of a call site that made a test do too much, and of a "
         "cause.\n" +
         Columns("FINDING", PageFinding{finding}) + Columns("TOP_ALLOCATOR", TopAllocator{}) +
         Columns("CAUSE", PageCause{}) + "\n// A run without its windows.\n" +
         Type<Form::kReport>("RunFields", RunResult{}) +
         "\n// What is 0, empty or null is left out.\n" +
         Type<Form::kPage>("WindowFields", PageWindow{window});
}

}  // namespace
}  // namespace leakgate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool updates = arguments.size() == 2 && arguments[1] == "--update";
  if (arguments.size() != 1 && !updates) {
    std::fputs("usage: page_fields FILE [--update]\n", stderr);
    return 2;
  }
  const std::string made = leakgate::FieldsFile();
  if (updates) {
    std::ofstream out(arguments[0], std::ios::binary);
    return out << made << std::flush ? 0 : 1;
  }
  std::ifstream in(arguments[0], std::ios::binary);
  if (std::string(std::istreambuf_iterator<char>(in), {}) == made) return 0;
  std::fprintf(stderr,
               "%s is not what the runner writes; run: %s %s --update, and build the page\n",
               arguments[0].c_str(), argv[0], arguments[0].c_str());
  return 1;
}
