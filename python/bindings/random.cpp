// Random numbers.
#include "python/bindings/arguments.h"
#include "python/bindings/creation.h"
#include "support/format.h"

namespace lanewise::python {

namespace {

// Sizes one by one, or a tuple of them.
frontend::Shape shape_of(const Bound& bound, std::string_view op) {
  if (bound.rest.size() == 1) return to_shape(bound.rest[0], op);
  py::tuple sizes(bound.rest.size());
  for (size_t i = 0; i < bound.rest.size(); ++i) sizes[i] = py::handle(bound.rest[i]);
  return to_shape(sizes.ptr(), op);
}

py::object manual_seed(const Bound& bound) {
  const py::object seed = checked(PyNumber_Index(bound[0]));
  // Negative seeds count from 2^64, as in PyTorch.
  if (seed < py::int_(0)) {
    frontend::manual_seed(static_cast<uint64_t>(to_int64(seed.ptr(), "manual_seed", "seed")));
  } else {
    const unsigned long long value = PyLong_AsUnsignedLongLong(seed.ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    frontend::manual_seed(value);
  }
  return py::none();
}

py::object rand(const Bound& bound) { return wrap(frontend::rand(shape_of(bound, "rand"))); }
py::object randn(const Bound& bound) { return wrap(frontend::randn(shape_of(bound, "randn"))); }

constexpr Definition kManualSeed{
    "manual_seed", "seed, /", manual_seed,
    R"(Starts the random stream anew; the values are those of PyTorch on a CPU.

    Raises OverflowError for a seed of more than 64 bits.

    >>> lw.manual_seed(0)
    >>> lw.randn(3)
    array([ 1.5409961, -0.2934289, -2.1787894], dtype=float32)
)"};
constexpr Definition kRand{"rand", "*shape", rand,
                           R"(Uniform random numbers in [0, 1), float32.

    The sizes are given one by one or as a tuple. Raises ShapeError for negative ones,
    UnsupportedError inside lanewise.jit.

    >>> lw.manual_seed(0)
    >>> lw.rand(2)
    array([0.4962566, 0.7682218], dtype=float32)
)"};
constexpr Definition kRandn{"randn", "*shape", randn,
                            R"(Normal random numbers of mean 0 and variance 1, float32.

    The sizes are given one by one or as a tuple. Raises ShapeError for negative ones,
    UnsupportedError inside lanewise.jit.

    >>> lw.manual_seed(0)
    >>> lw.randn(10000, 2)[0]
    array([-1.1258398, -1.1523602], dtype=float32)
)"};

}  // namespace

void add_random(py::module_& module) {
  add_functions(module, {python_function<kManualSeed>(), python_function<kRand>(),
                         python_function<kRandn>()});
}

}  // namespace lanewise::python
