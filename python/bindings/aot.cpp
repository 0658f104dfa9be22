#include "python/bindings/aot.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "frontend/aot.h"
#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "python/bindings/arguments.h"
#include "python/bindings/function.h"
#include "python/bindings/numpy.h"
#include "python/bindings/size.h"
#include "python/bindings/tracing.h"
#include "python/bindings/tree.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::AotInterface;
using frontend::AotTensor;
using frontend::Array;
using frontend::Number;
using frontend::Trace;

using namespace py::literals;

namespace {

// ---- building --------------------------------------------------------------------------------

py::list shape_texts(const frontend::Shape& shape) {
  py::list result;
  for (const frontend::Dim& dim : shape) result.append(to_string(dim));
  return result;
}

py::dict describe_argument(const AotInterface::Argument& argument) {
  return py::dict("name"_a = argument.name, "dtype"_a = std::string(python_name(argument.dtype)),
                  "number"_a = argument.is_number, "shape"_a = shape_texts(argument.shape));
}

py::dict describe_interface(const AotInterface& interface, const py::object& tree) {
  py::list parameters, results, constraints;
  for (const auto& argument : interface.parameters) parameters.append(describe_argument(argument));
  for (const auto& argument : interface.results) results.append(describe_argument(argument));
  for (const frontend::SizeConstraint& constraint : interface.constraints) {
    constraints.append(format("{} {} {}", constraint.left,
                              constraint.is_equality ? "==" : ">=", constraint.right));
  }
  return py::dict("symbol"_a = interface.symbol, "parameters"_a = parameters, "results"_a = results,
                  "constraints"_a = constraints, "tree"_a = tree, "aliases"_a = interface.aliases,
                  "checks"_a = interface.has_checks, "split"_a = interface.can_split);
}

Array result_array(const std::string& symbol, PyObject* leaf) {
  frontend::Argument argument;
  if (is_size(leaf) || !to_argument(leaf, "compile_aot", argument)) {
    throw py::type_error(
        format("compile_aot: {} returned {}; results are arrays, numbers and "
               "tuples, lists or dicts of them",
               symbol, a_type(leaf)));
  }
  if (const auto* array = std::get_if<Array>(&argument)) return *array;
  const auto& number = std::get<Number>(argument);
  return number.traced ? Array(number.traced) : array_from(leaf, "compile_aot");
}

class Builder {
 public:
  explicit Builder(const std::string& name) : builder_(name, LANEWISE_VERSION) {}

  py::dict add(const py::object& function, const std::string& symbol, const std::string& signature,
               const std::vector<std::string>& names, size_t required) {
    std::vector<Trace::Parameter> parameters = frontend::parse_signature(signature);
    if (parameters.size() > names.size() || parameters.size() < required) {
      throw ValueError(format("signature: {} parameters in '{}', but {} takes {}",
                              parameters.size(), signature, symbol, required));
    }
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].name = names[i];
    Trace trace(symbol, std::move(parameters), is_fast(function.ptr()));
    const size_t numbers = static_cast<size_t>(std::ranges::count_if(
        trace.parameters(),
        [](const Trace::Parameter& parameter) { return parameter.number || parameter.by_value; }));
    const frontend::SymbolicSizes sizes(numbers);
    std::vector<Array> results;
    const py::object tree = call(function, symbol, trace, results);
    trace.add_size_scalars(sizes.scalars().size());
    trace.finish(results);
    return describe_interface(builder_.add(symbol, trace, sizes), tree);
  }

  py::bytes compile(const std::string& manifest) const {
    std::string object;
    {
      const py::gil_scoped_release release;
      object = builder_.compile(manifest);
    }
    return py::bytes(object);
  }

 private:
  // The structure of the result, with their numbers as leaves.
  static py::object call(const py::object& function, const std::string& symbol, const Trace& trace,
                         std::vector<Array>& results) {
    const frontend::TracingScope scope;
    py::tuple arguments(trace.parameters().size());
    for (size_t i = 0; i < trace.parameters().size(); ++i) {
      arguments[i] = traced_argument(trace, i);
    }
    const py::object result = checked(PyObject_Call(function.ptr(), arguments.ptr(), nullptr));
    return map_tree(result.ptr(), [&](PyObject* leaf, const std::string&) -> py::object {
      results.push_back(result_array(symbol, leaf));
      return py::int_(results.size() - 1);
    });
  }

  frontend::AotBuilder builder_;
};

// ---- running ---------------------------------------------------------------------------------

// An argument of a call in memory that stays where it is.
struct HeldTensor {
  AotTensor tensor;
  runtime::BufferRef buffer;
  py::object owner;
};

bool has_whole_strides(const Memory& memory) {
  const int64_t item = size_of(memory.dtype);
  return std::all_of(memory.strides, memory.strides + memory.rank,
                     [&](int64_t stride) { return stride % item == 0; });
}

HeldTensor hold_array(const Array& array) {
  frontend::StridedData data = frontend::strided_data(array);
  HeldTensor held{
      {array.dtype(), data.data, frontend::constant_sizes(array.shape()), {}}, data.buffer, {}};
  for (const int64_t stride : data.strides) {
    held.tensor.strides.push_back(stride / size_of(array.dtype()));
  }
  return held;
}

HeldTensor hold(PyObject* object, bool writable) {
  Memory memory;
  if (is_ndarray(object) && read_in_place(object, memory) && has_whole_strides(memory)) {
    if (writable && !memory.writable) throw ValueError("out: the ndarray is read-only");
    HeldTensor held{{memory.dtype, memory.data, {memory.shape, memory.shape + memory.rank}, {}},
                    {},
                    py::reinterpret_borrow<py::object>(object)};
    for (int axis = 0; axis < memory.rank; ++axis) {
      held.tensor.strides.push_back(memory.strides[axis] / size_of(memory.dtype));
    }
    return held;
  }
  if (writable) throw ValueError("out: needs an aligned ndarray of a dtype of lanewise");
  return hold_array(array_from(object, "load"));
}

uint64_t number_bits(PyObject* object, DType dtype, const std::string& name) {
  if (is_float(dtype)) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return Scalar::from_double(dtype, value).bits;
  }
  if (is_bool(dtype)) return to_bool(object) ? 1 : 0;
  const py::object index = checked(PyNumber_Index(object));
  const bool negative = py::int_(index) < py::int_(0);
  const uint64_t bits = negative ? static_cast<uint64_t>(PyLong_AsLongLong(index.ptr()))
                                 : PyLong_AsUnsignedLongLong(index.ptr());
  const bool failed = PyErr_Occurred() != nullptr;
  PyErr_Clear();
  const Scalar converted = Scalar::from_int(dtype, static_cast<int64_t>(bits));
  const bool fits = visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return negative ? std::in_range<T>(static_cast<int64_t>(bits)) : std::in_range<T>(bits);
    } else {
      return true;
    }
  });
  if (failed || !fits) {
    throw ValueError(format("{}: {} does not fit {}", name, py::cast<std::string>(py::str(index)),
                            python_name(dtype)));
  }
  return converted.bits;
}

class Library {
 public:
  explicit Library(frontend::LoadedLibrary library) : library_(std::move(library)) {}

  std::string version() const { return library_.version(); }
  std::string manifest() const { return library_.manifest(); }
  std::string message(int32_t code) const { return library_.message(code); }

  // Arrays that are arguments, numbers with their dtypes and names, then dtype and shape of each
  // result, or an ndarray to write to. Returns (code, results).
  py::tuple call(size_t function, const py::list& arrays, const py::list& numbers,
                 const py::list& results) const {
    std::vector<HeldTensor> held;
    for (const py::handle array : arrays) held.push_back(hold(array.ptr(), false));
    std::vector<uint64_t> bits;
    for (const py::handle item : numbers) {
      const auto [value, dtype, name] =
          py::cast<std::tuple<py::object, std::string, std::string>>(item);
      bits.push_back(number_bits(value.ptr(), dtype_from_python_name(dtype), name));
    }
    py::list outputs;
    for (const py::handle item : results) {
      if (is_ndarray(item.ptr())) {
        held.push_back(hold(item.ptr(), true));
        outputs.append(item);
        continue;
      }
      const auto [dtype, sizes] = py::cast<std::pair<std::string, std::vector<int64_t>>>(item);
      const frontend::Shape shape(std::vector<frontend::Dim>(sizes.begin(), sizes.end()));
      const Array result = frontend::empty(dtype_from_python_name(dtype), shape);
      held.push_back(hold_array(result));
      outputs.append(wrap(result));
    }
    std::vector<AotTensor> tensors;
    for (const HeldTensor& tensor : held) tensors.push_back(tensor.tensor);
    int32_t code = 0;
    {
      const py::gil_scoped_release release;
      code = library_.call(function, tensors, bits);
    }
    return py::make_tuple(code, outputs);
  }

 private:
  frontend::LoadedLibrary library_;
};

std::unique_ptr<Library> load_object(const std::string& bytes, const std::string& name) {
  const py::gil_scoped_release release;
  return std::make_unique<Library>(frontend::LoadedLibrary::from_object(bytes, name));
}

std::unique_ptr<Library> load_shared_library(const std::string& path) {
  const py::gil_scoped_release release;
  return std::make_unique<Library>(frontend::LoadedLibrary::from_shared_library(path));
}

// Dtype and shape of an example argument, as a signature writes them.
py::object describe_example(const py::object& object) {
  frontend::Argument argument;
  if (!to_argument(object.ptr(), "compile_aot", argument)) {
    argument = array_from(object.ptr(), "compile_aot");
  }
  if (const auto* number = std::get_if<Number>(&argument)) {
    return py::str(std::string(text_name(frontend::default_dtype(number->weak))));
  }
  const Array& array = std::get<Array>(argument);
  const std::string sizes = to_string(array.shape());
  return py::str(format("{}{}", text_name(array.dtype()), sizes.empty() ? "[]" : sizes));
}

}  // namespace

void add_aot(py::module_& module) {
  py::register_local_exception_translator([](std::exception_ptr failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const Error&) {
      set_python_error();
    }
  });
  py::class_<Builder>(module, "_AotBuilder")
      .def(py::init<const std::string&>())
      .def("add", &Builder::add)
      .def("compile", &Builder::compile);
  py::class_<Library>(module, "_AotLibrary")
      .def_property_readonly("version", &Library::version)
      .def_property_readonly("manifest", &Library::manifest)
      .def("message", &Library::message)
      .def("call", &Library::call);
  module.def("_parse_signature", [](const std::string& text) {
    py::list parameters;
    for (const Trace::Parameter& parameter : frontend::parse_signature(text)) {
      py::list shape;
      for (const frontend::Dim& size : parameter.shape) {
        shape.append(size.is_constant() ? py::object(py::int_(size.value()))
                                        : py::object(py::str(to_string(size))));
      }
      const bool is_number = parameter.number || parameter.by_value;
      parameters.append(py::make_tuple(python_name(parameter.dtype), shape, is_number,
                                       parameter.number.has_value()));
    }
    return parameters;
  });
  module.def("_aot_archive", [](const std::string& object, const std::string& name) {
    return py::bytes(frontend::make_archive(object, name));
  });
  module.def("_aot_load_object", &load_object);
  module.def("_aot_load_shared_library", &load_shared_library);
  module.def("_aot_describe_example", &describe_example);
}

}  // namespace lanewise::python
