#include "python/bindings/function.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "frontend/lru.h"
#include "frontend/strides.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/source.h"
#include "python/bindings/tracing.h"
#include "python/bindings/tree.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::CallArray;

namespace {

// Traces that one function keeps, and values of static arguments that it has seen before it
// forgets all.
constexpr size_t kTraceLimit = 256;
constexpr size_t kStaticLimit = 4096;

struct State {
  std::string name;
  Parameters parameters;
  bool fast = false;
  py::dict statics;
  frontend::LruCache<std::vector<uint64_t>, std::shared_ptr<TracedFunction>, frontend::WordsHash>
      traces{kTraceLimit};
  // What the last call used.
  std::vector<uint64_t> last_key;
  std::shared_ptr<TracedFunction> last;
  uint64_t trace_count = 0;

  void forget() {
    traces.clear();
    last_key.clear();
    last = nullptr;
    statics = py::dict();
  }
};

struct FunctionObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* function;  // what is traced
  State* state;
};

PyTypeObject* function_type = nullptr;
PyObject* out_name = nullptr;  // "out", interned

FunctionObject& function_object(PyObject* object) {
  return *reinterpret_cast<FunctionObject*>(object);
}

// ---- out= ----------------------------------------------------------------------------------

// Where the results of a call go.
class Outs {
 public:
  Outs(const TracedFunction& traced, PyObject* out, CallArguments& arguments)
      : traced_(traced), arguments_(arguments) {
    zip_trees(traced.results.ptr(), out, "out",
              [this](PyObject*, PyObject* target) { add(target); });
  }

  std::span<const CallArray> places() const { return places_; }

  // Stores what was not computed in place.
  void finish(std::vector<Array>& results) const {
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (!targets_[i].is_none() && places_[i].data == nullptr) {
        frontend::assign(array_of(targets_[i].ptr()), results[i], false);
      }
    }
  }

  // The result: what was given, and new arrays where that is None.
  py::object result(std::vector<Array>& results) const {
    if (traced_.single) return at(0, results);
    size_t next = 0;
    return map_tree(traced_.results.ptr(),
                    [&](PyObject*, const std::string&) { return at(next++, results); });
  }

 private:
  py::object at(size_t i, std::vector<Array>& results) const {
    if (targets_[i].is_none()) return wrap(std::move(results[i]));
    return targets_[i];
  }

  void add(PyObject* target) {
    const size_t i = targets_.size();
    targets_.push_back(py::reinterpret_borrow<py::object>(target));
    places_.emplace_back();
    if (target == Py_None) return;
    if (is_array(target)) {
      add_array(array_of(target), i);
    } else if (is_ndarray(target)) {
      add_ndarray(target, i);
    } else {
      throw py::type_error(format("out: {} is no Array or ndarray", a_type(target)));
    }
  }

  void check(size_t i, DType dtype, const frontend::Shape& shape) const {
    const frontend::Shape& expected = traced_.trace->result_shape(i);
    if (shape != expected) {
      throw ShapeError(format("out: shape {}, but the result has {}", format_tuple(shape),
                              format_tuple(expected)));
    }
    if (dtype != traced_.trace->result_dtype(i)) {
      throw DTypeError(format("out: dtype {}, but the result has {}", python_name(dtype),
                              python_name(traced_.trace->result_dtype(i))));
    }
  }

  void add_array(const Array& array, size_t i) {
    check(i, array.dtype(), array.shape());
    const frontend::Storage& storage = *array.storage();
    const std::string reason = array.read_only_reason();
    if (!reason.empty()) throw ValueError(format("out: {}", reason));
    // In place where nobody can see the old values: no other array, no pending expression, no
    // buffer that Python code holds.
    const frontend::Node& node = *storage.node();
    if (!node.is_leaf()) return;
    const runtime::BufferRef& buffer = node.data().buffer;
    if (!storage.foreign && (node.reference_count() != 1 || !buffer->is_unique())) return;
    arguments_.keep(buffer);
    const int64_t size = size_of(array.dtype());
    frontend::append_byte_strides(strides_[i], array.window().strides, array.dtype());
    places_[i] = {node.data().data() + array.window().offset.value() * size, strides_[i].data()};
  }

  void add_ndarray(PyObject* ndarray, size_t i) {
    Memory memory;
    if (!read_in_place(ndarray, memory)) {
      throw DTypeError("out: an ndarray of a dtype that lanewise does not have, or not aligned");
    }
    const std::vector<frontend::Dim> dims(memory.shape, memory.shape + memory.rank);
    check(i, memory.dtype, frontend::Shape(dims));
    if (!memory.writable) throw ValueError("out: the ndarray is read-only");
    places_[i] = {memory.data, memory.strides};
  }

  const TracedFunction& traced_;
  CallArguments& arguments_;
  std::vector<py::object> targets_;  // held: others may take them out of their list
  std::vector<CallArray> places_;
  std::vector<std::vector<int64_t>> strides_ =
      std::vector<std::vector<int64_t>>(traced_.result_count);
};

// ---- calls ---------------------------------------------------------------------------------

// The arguments of a call without out=.
struct Split {
  PyObject* const* args;
  size_t count;
  py::object names;  // a tuple, or nothing
  PyObject* out = nullptr;
  std::vector<PyObject*> moved;  // what `args` points to if out was taken from the middle
};

void split_out(Split& split, PyObject* names) {
  if (names == nullptr || PyTuple_GET_SIZE(names) == 0) return;
  split.names = py::reinterpret_borrow<py::object>(names);
  const py::ssize_t named = PyTuple_GET_SIZE(names);
  py::ssize_t place = 0;
  while (place < named && PyTuple_GET_ITEM(names, place) != out_name &&
         PyUnicode_Compare(PyTuple_GET_ITEM(names, place), out_name) != 0) {
    ++place;
  }
  if (place == named) return;
  split.out = split.args[split.count + static_cast<size_t>(place)];
  if (split.out == Py_None) split.out = nullptr;
  const auto before = py::reinterpret_steal<py::object>(PyTuple_GetSlice(names, 0, place));
  const auto after = py::reinterpret_steal<py::object>(PyTuple_GetSlice(names, place + 1, named));
  split.names = named == 1 ? py::object() : before + after;
  if (place + 1 == named) return;
  split.moved.assign(split.args, split.args + split.count + static_cast<size_t>(named));
  split.moved.erase(split.moved.begin() + static_cast<ptrdiff_t>(split.count) + place);
  split.args = split.moved.data();
}

std::shared_ptr<TracedFunction> find_or_trace(FunctionObject& self, CallArguments& arguments,
                                              const Split& split) {
  State& state = *self.state;
  if (state.last && state.last_key == arguments.key()) return state.last;
  std::shared_ptr<TracedFunction> traced;
  if (auto* found = state.traces.find(arguments.key())) {
    traced = *found;
  } else {
    const std::vector<uint64_t> key = arguments.key();
    traced = trace_function(state.name, self.function, state.parameters, arguments, split.args,
                            split.count, split.names.ptr(), state.fast);
    ++state.trace_count;
    state.traces.insert(key, traced);
  }
  state.last_key = arguments.key();
  state.last = traced;
  return traced;
}

py::object run(const TracedFunction& traced, CallArguments& arguments, PyObject* out) {
  if (out != nullptr) {
    const Outs outs(traced, out, arguments);
    std::vector<Array> results =
        traced.trace->call(arguments.locate(), arguments.numbers(), outs.places());
    outs.finish(results);
    return outs.result(results);
  }
  std::vector<Array> results = traced.trace->call(arguments.locate(), arguments.numbers(), {});
  if (traced.single) return wrap(std::move(results[0]));
  size_t next = 0;
  return map_tree(traced.results.ptr(),
                  [&](PyObject*, const std::string&) { return wrap(std::move(results[next++])); });
}

// A call inside a trace becomes part of it, whatever its arguments: the function may use traced
// values that it finds elsewhere. It gets and gives what it would with a trace of its own, but for
// Python numbers, which it may look at.
py::object call_inline(const FunctionObject& self, const Split& split) {
  const std::string& name = self.state->name;
  const auto argument = [](PyObject* leaf, const std::string&) {
    if (is_array(leaf) || is_python_number(leaf)) return py::reinterpret_borrow<py::object>(leaf);
    return wrap(array_from(leaf, "jit"));
  };
  const PythonCall call =
      map_arguments(self.state->parameters, split.args, split.count, split.names.ptr(), argument);
  const py::object result =
      checked(PyObject_Call(self.function, call.args.ptr(), call.keywords.ptr()));
  std::vector<PyObject*> targets;
  if (split.out != nullptr) {
    zip_trees(result.ptr(), split.out, "out",
              [&](PyObject*, PyObject* target) { targets.push_back(target); });
  }
  size_t next = 0;
  return map_tree(result.ptr(), [&](PyObject* leaf, const std::string& path) {
    const Array array = result_array(name, leaf, path);
    PyObject* target = targets.empty() ? Py_None : targets[next++];
    return target == Py_None ? wrap(Array(array.node())) : store(target, array, "jit");
  });
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) noexcept {
  return guarded([&] {
    FunctionObject& self = function_object(object);
    Split split{args, static_cast<size_t>(PyVectorcall_NARGS(flags)), {}, nullptr, {}};
    split_out(split, names);
    if (self.state->statics.size() > kStaticLimit) self.state->forget();
    const CallArgumentsLease arguments;
    arguments->flatten(self.state->name, self.state->parameters, self.state->statics, split.args,
                       split.count, split.names.ptr());
    if (frontend::TracingScope::active()) return call_inline(self, split).release().ptr();
    if (arguments->is_traced()) frontend::fail_kept();
    const auto traced = find_or_trace(self, *arguments, split);
    return run(*traced, *arguments, split.out).release().ptr();
  });
}

// ---- the type ------------------------------------------------------------------------------

std::vector<std::string> static_names(py::handle object) {
  if (!object || object.is_none()) return {};
  if (py::isinstance<py::str>(object)) return {py::cast<std::string>(object)};
  std::vector<std::string> names;
  for (const py::handle name : object) names.push_back(py::cast<std::string>(name));
  return names;
}

// Whether the parameter out of `function` means what out= of a call of it means: our own functions
// and NumPy's.
bool has_such_out(py::handle function) {
  if (PyCFunction_Check(function.ptr())) {
    const py::object module = py::getattr(function, "__module__", py::none());
    return py::isinstance<py::str>(module) && py::cast<std::string>(module).starts_with("lanewise");
  }
  return py::isinstance(function, py::module_::import("numpy").attr("ufunc"));
}

// Names of parameters, and which of them are static.
Parameters read_parameters(const std::string& function_name, py::handle function,
                           py::handle static_argnames) {
  const std::vector<std::string> wanted = static_names(static_argnames);
  Parameters parameters;
  const py::module_ inspect = py::module_::import("inspect");
  const py::object signature = inspect.attr("signature")(function);
  const py::object kinds = inspect.attr("Parameter");
  std::vector<std::string> all;
  bool any_keyword = false;
  for (const py::handle parameter : signature.attr("parameters").attr("values")()) {
    const auto name = py::cast<std::string>(parameter.attr("name"));
    const py::object kind = parameter.attr("kind");
    if (name == "out" && !has_such_out(function)) {
      throw ValueError(
          format("jit: the parameter 'out' of {} is in the way: calls of jitted "
                 "functions have an out= of their own",
                 function_name));
    }
    if (kind.equal(kinds.attr("VAR_KEYWORD"))) {
      any_keyword = true;
    } else if (!kind.equal(kinds.attr("VAR_POSITIONAL"))) {
      all.push_back(name);
      if (!kind.equal(kinds.attr("KEYWORD_ONLY"))) {
        parameters.names.push_back(name);
        parameters.is_static.push_back(std::ranges::find(wanted, name) != wanted.end());
      }
    }
  }
  for (const std::string& name : wanted) {
    if (!any_keyword && std::ranges::find(all, name) == all.end()) {
      throw ValueError(format("jit: static_argnames has '{}', which is no parameter of {}", name,
                              function_name));
    }
    parameters.static_names.emplace_back(py::str(name));
  }
  return parameters;
}

py::object make_function(py::handle function, py::handle static_argnames, bool fast) {
  if (PyCallable_Check(function.ptr()) == 0) {
    throw py::type_error(format("jit: {} cannot be called", a_type(function.ptr())));
  }
  auto state = std::make_unique<State>();
  state->name = py::cast<std::string>(py::getattr(function, "__name__", py::str("function")));
  state->parameters = read_parameters(state->name, function, static_argnames);
  state->fast = fast;
  FunctionObject* self = PyObject_GC_New(FunctionObject, function_type);
  if (self == nullptr) throw py::error_already_set();
  self->vectorcall = call;
  self->dict = nullptr;
  self->weak_references = nullptr;
  self->function = function.inc_ref().ptr();
  self->state = state.release();
  PyObject_GC_Track(&self->ob_base);
  auto result = py::reinterpret_steal<py::object>(&self->ob_base);
  py::module_::import("functools").attr("update_wrapper")(result, function);
  return result;
}

py::object jit(const Bound& bound) {
  enum { kFunction, kStaticArgnames, kFast };
  const py::handle names(bound[kStaticArgnames]);
  const bool fast = bound[kFast] != nullptr && py::cast<bool>(py::handle(bound[kFast]));
  if (bound.given(kFunction) != nullptr) return make_function(bound[kFunction], names, fast);
  const py::object self = py::module_::import("lanewise").attr("jit");
  const py::object given =
      names ? py::reinterpret_borrow<py::object>(names) : py::object(py::tuple());
  using namespace py::literals;
  return py::module_::import("functools")
      .attr("partial")(self, "static_argnames"_a = given, "fast"_a = fast);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  FunctionObject& self = function_object(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self.dict);
  Py_VISIT(self.function);
  Py_VISIT(self.state->statics.ptr());
  return 0;
}

int clear(PyObject* object) {
  FunctionObject& self = function_object(object);
  Py_CLEAR(self.dict);
  Py_CLEAR(self.function);
  self.state->forget();
  return 0;
}

void deallocate(PyObject* object) {
  FunctionObject& self = function_object(object);
  PyObject_GC_UnTrack(object);
  if (self.weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Py_XDECREF(self.dict);
  Py_XDECREF(self.function);
  delete self.state;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// A jitted function in a class is a method, as any function is.
PyObject* bind_method(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<lanewise.jit of %R>", function_object(self).function);
}

PyObject* trace_count(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(function_object(self).state->trace_count);
}

constexpr Definition kClearCache{"clear_cache", "",
                                 [](const Bound& bound) -> py::object {
                                   function_object(bound[0]).state->forget();
                                   return py::none();
                                 },
                                 R"(Forgets all traces of the function.

    >>> f = lw.jit(lambda x: x + 1)
    >>> f(1), f.clear_cache(), f(1), f.trace_count
    (array(2), None, array(2), 2)
)",
                                 true};

constexpr Definition kReduceFunction{
    "__reduce__", "",
    [](const Bound& bound) -> py::object { return py::handle(bound[0]).attr("__qualname__"); },
    "Pickles the name, as for any function.", true};

constexpr const char* kFunctionDoc = R"(A compiled function: what lanewise.jit returns.

    Called like the function it was made of, with out= besides. In a class it is a method.

    >>> f = lw.jit(lambda x, c: c * x)
    >>> f(lw.asarray([1.0, 2.0]), 3)
    array([3., 6.])
)";

constexpr Definition kJit{
    "jit", "function=None, /, *, static_argnames=(), fast=False", jit,
    R"(The function, compiled: traced once for each structure, dtypes and shapes of its
    arguments, then called straight into machine code.

    Arguments are arrays (Array, ndarray, or any with DLPack or the buffer protocol, read in place),
    numbers, and tuples, lists or dicts of them; results are such structures of evaluated arrays.
    While tracing, the function gets traced arrays: shapes and dtypes are known, values are not, so
    lanewise.where takes the place of `if`. Arguments named in static_argnames are passed as they
    are, and the function is traced for each of their values; they must be hashable. Arrays that
    the function finds elsewhere are constants of the trace. Calls take out=, an Array or a writable
    ndarray, or a structure of them like that of the result.

    fast=True gives up stated errors. x**c with a known c, a whole number or half of one up to 64,
    is then a chain of products with an error of up to abs(c) + 1 units in the last place; x**-n is
    1 / x**n, hence 0 or infinite where x**n leaves the range; x**0.5 is sqrt(x), also of -0.0 and
    -inf. a * b + c and a * b - c of floats are rounded once. All else is as ever, and results do
    not depend on layouts, threads or hosts. Inside another jitted function the outermost decides.

    Raises TracingError where Python needs the value of a traced array, ValueError where a traced
    argument is written to.

    >>> @lw.jit
    ... def f(x, c):
    ...     return c * x[:, 0] + x[:, 1]
    >>> f(np.ones((2, 2)), 3)
    array([4., 4.])
)"};

}  // namespace

bool is_function(PyObject* object) { return Py_TYPE(object) == function_type; }

bool is_fast(PyObject* object) {
  return is_function(object) && function_object(object).state->fast;
}

std::shared_ptr<const frontend::Trace> trace_for(PyObject* function,
                                                 std::span<PyObject* const> args) {
  FunctionObject& self = function_object(function);
  const CallArgumentsLease arguments;
  const Split split{args.data(), args.size(), {}, nullptr, {}};
  arguments->flatten(self.state->name, self.state->parameters, self.state->statics, args.data(),
                     args.size(), nullptr);
  if (arguments->is_traced()) throw TracingError("dump: arguments must not be traced");
  return find_or_trace(self, *arguments, split)->trace;
}

void add_function_type(py::module_& module) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
       nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {"trace_count", trace_count, nullptr, R"(How often the function was traced.

    >>> f = lw.jit(lambda x: x + 1)
    >>> f(1), f(2), f(2.5), f.trace_count
    (array(2), array(3), array(3.5), 2)
)",
       nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {python_function<kClearCache>(),
                                  python_function<kReduceFunction>(),
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {slot(Py_tp_dealloc, deallocate),
                                slot(Py_tp_traverse, traverse),
                                slot(Py_tp_clear, clear),
                                slot(Py_tp_call, PyVectorcall_Call),
                                slot(Py_tp_descr_get, bind_method),
                                slot(Py_tp_repr, repr),
                                {Py_tp_members, members},
                                {Py_tp_getset, properties},
                                {Py_tp_methods, methods},
                                {Py_tp_doc, const_cast<char*>(kFunctionDoc)},
                                {0, nullptr}};
  PyType_Spec spec{"lanewise.Function", sizeof(FunctionObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  out_name = PyUnicode_InternFromString("out");
  module.attr("Function") = py::handle(reinterpret_cast<PyObject*>(function_type));
  add_functions(module, {python_function<kJit>()});
}

}  // namespace lanewise::python
