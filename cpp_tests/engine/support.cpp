#include "support.h"

#include <ATen/ops/arange.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate::testing {

at::Tensor counted(at::IntArrayRef sizes, c10::ScalarType dtype) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return at::arange(count, c10::TensorOptions(dtype)).view(sizes);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor left = a.resolve_conj().resolve_neg().contiguous();
  const at::Tensor right = b.resolve_conj().resolve_neg().contiguous();
  return left.nbytes() == 0 || std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

Spec spec_of(std::string op, std::vector<std::vector<Argument>> samples, Dtypes dtypes) {
  std::vector<Spec> specs(1);
  specs[0].name = std::move(op);
  specs[0].where = "spec_of";
  SpecWriter writer(specs[0]);
  writer.dtypes(c10::kCPU, std::move(dtypes)).reference(specs[0].name).accuracy(exact());
  for (std::vector<Argument>& sample : samples) writer.sample(std::move(sample));
  fit_to_schema(specs[0]);
  name_subjects(specs);
  return specs[0];
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "opgate_test.XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a destructor must not throw
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace opgate::testing
