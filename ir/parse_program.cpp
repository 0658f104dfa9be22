#include <algorithm>

#include "ir/detail/reader.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/format.h"

namespace lanewise::ir {

using detail::NodeReader;
using detail::Reader;
using detail::Signature;
using detail::Token;

namespace {

// The number of `element` in `list`, appended if new.
template <class T>
int number_in(std::vector<T>& list, const T& element) {
  const auto found = std::ranges::find(list, element);
  const auto number = static_cast<int>(found - list.begin());
  if (found == list.end()) list.push_back(element);
  return number;
}

class ProgramReader {
 public:
  explicit ProgramReader(std::string_view text) : reader_(text) {}

  Program read() {
    reader_.expect("program");
    signature_ = detail::read_signature(reader_);
    program_.name = signature_.name;
    program_.inputs = signature_.inputs;
    program_.scalars = signature_.scalars;
    for (size_t i = 0; i < program_.inputs.size(); ++i) add_input(i);
    reader_.expect("{");
    while (reader_.peek().kind == Token::Kind::kValue) declaration();
    while (!reader_.accept("return")) step_or_check();
    outputs();
    reader_.expect("}");
    reader_.expect(Token::Kind::kEnd, "end of text");
    if (const auto problem = find_problem(program_))
      reader_.fail(place(*problem), problem->message);
    return std::move(program_);
  }

 private:
  struct KernelPlace {
    size_t offset;
    std::vector<size_t> nodes;
  };

  size_t place(const Problem& problem) const {
    if (problem.kernel < 0) return 0;
    const KernelPlace& kernel = places_[static_cast<size_t>(problem.kernel)];
    return problem.node.valid() ? kernel.nodes[problem.node.index] : kernel.offset;
  }

  // ---- buffers ----

  void add_input(size_t i) {
    const Parameter& parameter = program_.inputs[i];
    const size_t offset = signature_.input_offsets[i];
    if (i >= signature_.valued) reader_.fail(offset, "parameters of a program begin with %");
    add_buffer(signature_.input_keys[i], offset,
               {.kind = Buffer::Kind::kInput,
                .index = static_cast<int>(i),
                .dtype = parameter.dtype,
                .shape = parameter.shape,
                .contiguous = parameter.contiguous});
  }

  void add_buffer(std::string_view key, size_t offset, Buffer buffer) {
    if (!buffers_.try_emplace(key, static_cast<int>(program_.buffers.size())).second) {
      reader_.fail(offset, format("%{} is defined twice", key));
    }
    program_.buffers.push_back(std::move(buffer));
  }

  int use_buffer() {
    const Token token = reader_.expect(Token::Kind::kValue, "a buffer");
    const auto found = buffers_.find(token.text);
    if (found == buffers_.end()) reader_.fail(token.offset, format("no buffer %{}", token.text));
    return found->second;
  }

  // "%out0 = output 0 : f32[n] strided starts as %x"
  void declaration() {
    const Token token = reader_.take();
    reader_.expect("=");
    Buffer buffer;
    if (reader_.accept("output")) {
      buffer.kind = Buffer::Kind::kOutput;
      buffer.index =
          reader_.number_of(reader_.expect(Token::Kind::kNumber, "the number of a result"));
    } else if (reader_.accept("block")) {
      buffer.kind = Buffer::Kind::kBlock;
    } else if (!reader_.accept("temporary")) {
      reader_.fail_expected("'output', 'temporary' or 'block'");
    }
    reader_.expect(":");
    buffer.dtype = reader_.dtype();
    buffer.shape = reader_.shape();
    buffer.contiguous = !reader_.accept("strided");
    if (reader_.accept("starts")) {
      reader_.expect("as");
      buffer.starts_as = use_buffer();
    }
    add_buffer(token.text, token.offset, std::move(buffer));
  }

  // ---- steps ----

  void step_or_check() {
    Step step;
    if (reader_.peek().text == "kernel") {
      step.kernels.push_back(kernel());
    } else if (reader_.accept("check")) {
      return check();
    } else {
      step.blocked = reader_.accept("blocked");
      if (!step.blocked && !reader_.accept("step")) {
        reader_.fail_expected("'kernel', 'step', 'blocked', 'check' or 'return'");
      }
      reader_.expect("{");
      while (!reader_.accept("}")) step.kernels.push_back(kernel());
    }
    program_.steps.push_back(std::move(step));
  }

  // "check %temporary0 [n, 4] "message""
  void check() {
    const auto steps = static_cast<int>(program_.steps.size());
    const size_t offset = reader_.peek().offset;
    if (!program_.checks.empty() && steps != program_.check_steps) {
      reader_.fail(offset, "all checks stand together");
    }
    program_.check_steps = steps;
    const int buffer = use_buffer();
    Shape shape(reader_.dims());
    program_.checks.push_back({buffer, std::move(shape), reader_.string()});
  }

  void outputs() {
    const size_t offset = reader_.peek().offset;
    if (reader_.peek().kind == Token::Kind::kValue) {
      do program_.outputs.push_back(use_buffer());
      while (reader_.accept(","));
    }
    const auto& results = signature_.results;
    bool fits = results.size() == program_.outputs.size();
    for (size_t i = 0; fits && i < results.size(); ++i) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(program_.outputs[i])];
      fits = buffer.dtype == results[i].dtype && buffer.shape == results[i].shape;
    }
    if (!fits) reader_.fail(offset, "the results are not those of the signature");
  }

  // ---- kernels ----

  // "(i0 < n, i1 < 4)"
  void loops(Kernel& kernel, std::vector<Dim>& domain) {
    reader_.expect("(");
    reader_.list(")", [&] {
      kernel.loops.emplace_back(reader_.expect(Token::Kind::kName, "a loop").text);
      reader_.expect("<");
      domain.push_back(reader_.dim());
    });
  }

  Kernel kernel() {
    Kernel kernel;
    const size_t offset = reader_.peek().offset;
    reader_.expect("kernel");
    kernel.name = reader_.name_of(reader_.expect(Token::Kind::kFunction, "a name with @"));
    std::vector<Dim> domain;
    loops(kernel, domain);
    const size_t kept = domain.size();
    if (reader_.accept("reduce")) loops(kernel, domain);
    kernel.reduced = static_cast<int>(domain.size() - kept);
    kernel.domain = Shape(std::move(domain));
    reader_.expect("{");
    NodeReader nodes(reader_, kernel.body, [&](Op op) { return slot(kernel, op); });
    while (reader_.peek().kind == Token::Kind::kValue) nodes.node();
    while (reader_.accept("store")) {
      const int operand = number_in(kernel.operands, buffer_operand(kernel));
      reader_.expect(",");
      kernel.stores.push_back({operand, nodes.use()});
    }
    if (!reader_.accept("}")) reader_.fail_expected("a node, 'store' or '}'");
    places_.push_back({offset, nodes.offsets()});
    return kernel;
  }

  // What a leaf of a body names.
  int slot(Kernel& kernel, Op op) {
    const size_t offset = reader_.peek().offset;
    if (op == Op::kLoad) return number_in(kernel.operands, buffer_operand(kernel));
    if (op == Op::kIota) {
      Operand operand{.buffer = Operand::kIndex, .shape = {}, .axes = axes(kernel)};
      return number_in(kernel.operands, operand);
    }
    if (op != Op::kScalar) reader_.fail(offset, format("{}: not an op of kernels", op));
    const int number = reader_.number_of(reader_.expect(Token::Kind::kScalar, "a scalar"));
    if (number >= static_cast<int>(program_.scalars.size())) {
      reader_.fail(offset, format("no scalar ${}", number));
    }
    const size_t before = kernel.scalars.size();
    const int slot = number_in(kernel.scalars, number);
    if (kernel.scalars.size() > before) {
      kernel.body.scalars.push_back(program_.scalars[static_cast<size_t>(number)]);
    }
    return slot;
  }

  std::vector<AxisIndex> axes(const Kernel& kernel) {
    std::vector<AxisIndex> result;
    reader_.expect("[");
    reader_.list("]", [&] { result.push_back(reader_.index(kernel.loops)); });
    return result;
  }

  // "%x[i0, 1]", "%x as [m][2*i0]"
  Operand buffer_operand(const Kernel& kernel) {
    Operand operand;
    operand.buffer = use_buffer();
    operand.shape = reader_.accept("as")
                        ? Shape(reader_.dims())
                        : program_.buffers[static_cast<size_t>(operand.buffer)].shape;
    operand.axes = axes(kernel);
    return operand;
  }

  Reader reader_;
  Signature signature_;
  Program program_;
  std::unordered_map<std::string_view, int> buffers_;
  std::vector<KernelPlace> places_;
};

}  // namespace

Program parse_program(std::string_view text) { return ProgramReader(text).read(); }

}  // namespace lanewise::ir
