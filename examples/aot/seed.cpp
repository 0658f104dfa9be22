// The same as seed.c, on all threads: each computes a part of the rows.
#include <seed.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::vector<float> read_rows(const char* path) {
  std::ifstream file(path);
  std::vector<float> rows;
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.find(',');
    if (comma == std::string::npos) continue;
    rows.push_back(std::stof(line));
    rows.push_back(std::stof(line.substr(comma + 1)));
  }
  return rows;
}

DLTensor tensor(std::vector<float>& values, std::vector<int64_t>& shape) {
  return {values.data(),
          {/*CPU*/ 1, 0},
          static_cast<int32_t>(shape.size()),
          {/*float*/ 2, 32, 1},
          shape.data(),
          nullptr,
          0};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: seed rows.csv\n");
    return 2;
  }
  std::vector<float> rows = read_rows(argv[1]);
  const auto count = static_cast<int64_t>(rows.size() / 2);
  std::vector<float> results(static_cast<size_t>(count));
  std::vector<int64_t> rows_shape{count, 2};
  std::vector<int64_t> results_shape{count};
  const DLTensor x = tensor(rows, rows_shape);
  const DLTensor out = tensor(results, results_shape);

  int64_t range = 0;
  int32_t error = seed_query(&x, &out, &range, nullptr);
  const auto workers = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<int32_t> errors(static_cast<size_t>(workers), LANEWISE_OK);
  std::vector<std::thread> threads;
  for (int64_t i = 0; error == LANEWISE_OK && i < workers; ++i) {
    threads.emplace_back([&, i] {
      errors[static_cast<size_t>(i)] =
          seed_range(&x, &out, range * i / workers, range * (i + 1) / workers, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int32_t other : errors) error = error == LANEWISE_OK ? other : error;
  if (error != LANEWISE_OK) {
    std::fprintf(stderr, "seed: argument %d: %s\n", LANEWISE_ARGUMENT(error), seed_message(error));
    return 1;
  }
  for (const float result : results) std::printf("%a\n", static_cast<double>(result));
}
