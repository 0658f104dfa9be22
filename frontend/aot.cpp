#include "frontend/aot.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "frontend/strides.h"
#include "ir/passes/pipeline.h"
#include "jit/aot.h"
#include "runtime/copy.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

// ---- signatures ----------------------------------------------------------------------------

namespace {

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : text_(text) {}

  std::vector<Trace::Parameter> parse() {
    std::vector<Trace::Parameter> parameters;
    skip_blanks();
    while (at_ < text_.size()) {
      parameters.push_back(parameter());
      skip_blanks();
      if (at_ == text_.size()) break;
      if (text_[at_] != ',') fail("expected ',' or the end", at_);
      ++at_;
      skip_blanks();
      if (at_ == text_.size()) fail("expected a dtype after ','", at_);
    }
    return parameters;
  }

 private:
  [[noreturn]] void fail(std::string_view what, size_t place) const {
    throw ValueError(format("signature: {}\n  {}\n  {}^", what, text_, std::string(place, ' ')));
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view word() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  Trace::Parameter parameter() {
    Trace::Parameter result;
    const size_t start = at_;
    const std::string_view name = word();
    if (name.empty()) fail("expected a dtype", start);
    result.dtype = dtype(name, start);
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') {
      result.shape = shape();
    } else if (result.dtype == DType::kF64) {
      result.number = Weak::kFloat;
    } else if (result.dtype == DType::kI64) {
      result.number = Weak::kInt;
    } else if (result.dtype == DType::kBool) {
      result.number = Weak::kBool;
    } else {
      result.by_value = true;
    }
    return result;
  }

  DType dtype(std::string_view name, size_t place) const {
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (name == text_name(dtype) || name == python_name(dtype)) return dtype;
    }
    fail(format("'{}' is no dtype: there are bool, i8 to i64, u8 to u64, f32 and f64", name),
         place);
  }

  Shape shape() {
    std::vector<Dim> dims;
    ++at_;
    skip_blanks();
    while (at_ < text_.size() && text_[at_] != ']') {
      dims.push_back(size());
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == ']') fail("expected a size", at_);
      } else if (at_ < text_.size() && text_[at_] != ']') {
        fail("expected ',' or ']'", at_);
      }
    }
    if (at_ == text_.size()) fail("expected ']'", at_);
    ++at_;
    return Shape(std::move(dims));
  }

  Dim size() {
    const size_t start = at_;
    const std::string_view name = word();
    if (name.empty()) fail("expected a size: a name or a number", start);
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) {
      return Dim::symbol(std::string(name));
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error == std::errc::result_out_of_range) fail("this size does not fit 64 bits", start);
    if (end != name.data() + name.size()) fail("a name cannot begin with a digit", start);
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Trace::Parameter> parse_signature(std::string_view text) {
  return SignatureParser(text).parse();
}

// ---- building ------------------------------------------------------------------------------

namespace {

// The elements of an array in order, without gaps.
std::string row_major_bytes(const CallArray& array, const ir::Parameter& input) {
  const std::vector<int64_t> sizes = constant_sizes(input.shape);
  const std::vector<int64_t> strides = row_major_byte_strides(input.shape, input.dtype);
  std::string bytes(static_cast<size_t>(input.shape.element_count().value() * size_of(input.dtype)),
                    '\0');
  runtime::copy_strided(bytes.data(), strides, array.data, {array.strides, sizes.size()}, sizes,
                        size_of(input.dtype));
  return bytes;
}

// Any strides are taken at run time: nothing may rely on contiguous arguments or results.
ir::Program lower_for_any_strides(const Trace& trace) {
  ir::Graph graph = trace.graph();
  const size_t arguments = graph.inputs.size() - trace.captured().size();
  for (size_t i = 0; i < graph.inputs.size(); ++i) graph.inputs[i].contiguous = i >= arguments;
  ir::FuseOptions options;
  options.strided_outputs.assign(graph.outputs.size(), true);
  ir::PassOptions passes = ir::PassOptions::from_environment();
  passes.fast = trace.is_fast();
  return ir::lower(std::move(graph), options, passes);
}

}  // namespace

struct AotBuilder::Implementation {
  jit::AotLibrary library;
};

AotBuilder::AotBuilder(std::string name, std::string version)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->library.name = std::move(name);
  implementation_->library.version = std::move(version);
}

AotBuilder::~AotBuilder() = default;

AotInterface AotBuilder::add(const std::string& symbol, const Trace& trace,
                             const SymbolicSizes& sizes) {
  jit::AotFunction function;
  AotInterface interface;
  interface.symbol = function.symbol = symbol;
  function.program = lower_for_any_strides(trace);
  int arrays = 0;
  int numbers = 0;
  for (const Trace::Parameter& parameter : trace.parameters()) {
    const bool is_number = parameter.number || parameter.by_value;
    function.parameters.push_back({parameter.name, is_number, is_number ? numbers++ : arrays++});
    interface.parameters.push_back({parameter.name, parameter.dtype, parameter.shape, is_number});
  }
  const ir::Graph& graph = trace.graph();
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    function.results.push_back(graph.outputs.size() == 1 ? "out" : format("out{}", k));
    interface.results.push_back(
        {function.results.back(), trace.result_dtype(k), trace.result_shape(k)});
  }
  for (size_t i = 0; i < trace.captured().size(); ++i) {
    const size_t input = graph.inputs.size() - trace.captured().size() + i;
    function.constants.push_back(row_major_bytes(trace.captured()[i], graph.inputs[input]));
  }
  function.size_scalars = sizes.scalars();
  function.literals.assign(trace.literals().begin(), trace.literals().end());
  for (const SizeConstraint& constraint : sizes.constraints()) {
    function.constraints.push_back({constraint.is_equality, constraint.left, constraint.right});
  }
  interface.constraints = sizes.constraints();
  for (const auto& [output, input] : jit::possible_aliases(function)) {
    const auto parameter = std::ranges::find_if(function.parameters, [&](const auto& other) {
      return !other.is_number && other.index == input;
    });
    interface.aliases.emplace_back(static_cast<size_t>(output),
                                   static_cast<size_t>(parameter - function.parameters.begin()));
  }
  interface.has_checks = !function.program.checks.empty();
  interface.can_split = jit::splittable_loop(function.program).has_value();
  implementation_->library.functions.push_back(std::move(function));
  return interface;
}

std::string AotBuilder::compile(const std::string& manifest) const {
  jit::AotLibrary library = implementation_->library;
  library.manifest = manifest;
  return jit::compile_object(library);
}

std::string make_archive(const std::string& object, const std::string& member_name) {
  return jit::make_archive(object, member_name);
}

}  // namespace lanewise::frontend
