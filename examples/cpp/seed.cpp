// Random rows as the first program of README.md has them, and the sum of squares and cubes.
// Results are written in hexadecimal, so that all bits are seen.
#include <lanewise/lanewise.h>

#include <cstdio>

int main() {
  using namespace lanewise;
  manual_seed(0);
  const Array X = randn({10000, 2});
  const auto y = pow(X(all, 0), 2) + pow(X(all, 1), 3);
  for (const float value : to_vector<float>(y)) std::printf("%a\n", static_cast<double>(value));

  // Views share memory, and errors say what is wrong.
  const Array grid = asarray<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  grid(all, Slice{1, {}, {}}) *= 10;
  std::printf("%g\n", item<double>(sum(where(grid > 20, grid, 0))));
  try {
    grid + X;
  } catch (const ShapeError& error) {
    std::printf("%s\n", error.what());
  }
}
