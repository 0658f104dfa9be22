# Makes a C++ file of a text file: INPUT as the string kRuntimeAssembly in OUTPUT.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "namespace lanewise::jit {
extern const char* const kRuntimeAssembly;
const char* const kRuntimeAssembly = R\"assembly(${text})assembly\";
}  // namespace lanewise::jit
")
