/* Reads rows of two numbers from a CSV file and writes seed(rows), one number a line.
 *
 *   cc seed.c -Ibuild build/libseed.a -o seed && ./seed rows.csv
 *
 * The numbers are written in hexadecimal, so that all bits are seen. */
#include <seed.h>
#include <stdio.h>
#include <stdlib.h>

static float* read_rows(const char* path, int64_t* count) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return NULL;
  int64_t room = 64;
  float* rows = malloc(sizeof(float) * 2 * (size_t)room);
  *count = 0;
  while (rows != NULL && fscanf(file, "%f,%f", &rows[2 * *count], &rows[2 * *count + 1]) == 2) {
    if (++*count < room) continue;
    room *= 2;
    rows = realloc(rows, sizeof(float) * 2 * (size_t)room);
  }
  fclose(file);
  return rows;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: seed rows.csv\n");
    return 2;
  }
  int64_t count;
  float* rows = read_rows(argv[1], &count);
  if (rows == NULL) {
    perror(argv[1]);
    return 1;
  }
  float* results = malloc(sizeof(float) * (size_t)(count + 1));
  if (results == NULL) return 1;

  const DLDevice cpu = {1, 0};
  const DLDataType float32 = {2, 32, 1};
  int64_t rows_shape[] = {count, 2};
  const DLTensor x = {rows, cpu, 2, float32, rows_shape, NULL, 0};
  const DLTensor out = {results, cpu, 1, float32, &count, NULL, 0};
  const int32_t error = seed(&x, &out);
  if (error != LANEWISE_OK) {
    fprintf(stderr, "seed: argument %d: %s\n", LANEWISE_ARGUMENT(error), seed_message(error));
    return 1;
  }
  for (int64_t i = 0; i < count; ++i) printf("%a\n", (double)results[i]);
  free(results);
  free(rows);
  return 0;
}
