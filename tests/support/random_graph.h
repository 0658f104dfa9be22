// Random graphs over all ops and dtypes: what the text form, passes and machine code are tried on.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "tests/support/random_values.h"

namespace lanewise::test {

struct RandomGraphOptions {
  int inputs = 3;
  int scalars = 2;
  int nodes = 25;   // further nodes, about
  int outputs = 3;  // at most
  int max_rank = 3;
  int max_size = 5;  // of an axis
  int max_elements = 400;
  bool composites = true;
  bool windows = true;
  bool updates = true;
  bool reductions = true;
  bool positions = false;  // argmin and argmax among the reductions
  bool scans = false;
  bool checks = false;  // conditions that may fail
  // The dtypes of arguments, constants and casts.
  std::vector<DType> dtypes = {DType::kBool, DType::kI8,  DType::kI16, DType::kI32,
                               DType::kI64,  DType::kU8,  DType::kU16, DType::kU32,
                               DType::kU64,  DType::kF32, DType::kF64};
};

// Passes the verifier. Sizes are constants.
ir::Graph random_graph(Random& random, const RandomGraphOptions& options = {});

// Arguments for a graph; symbols get the sizes in `symbols`.
std::vector<ir::Tensor> random_inputs(
    Random& random, const ir::Graph& graph,
    const std::vector<std::pair<std::string, int64_t>>& symbols = {});
std::vector<Scalar> random_scalars(Random& random, const ir::Graph& graph);

}  // namespace lanewise::test
