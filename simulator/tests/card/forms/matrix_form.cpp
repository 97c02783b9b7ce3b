#include "card/forms/matrix_form.h"

#include <cstdint>
#include <cstring>
#include <random>

#include "card/matrix_numbers.h"
#include "unit/fake_memory.h"

namespace opgate::card {
namespace {

MatrixForm mma(const std::string& shape, unsigned m, unsigned n, unsigned k,
               const std::array<std::string, 4>& types, const std::string& layouts = "row.col",
               const std::string& words = "") {
  MatrixForm form;
  form.opcode = "mma.sync.aligned." + shape + "." + layouts + words + "." + types[0] + "." + types[1] + "." +
                types[2] + "." + types[3];
  form.types = types;
  const auto registers = [](unsigned elements, const std::string& type) {
    return elements * bits_of_type(type) / 32 / (type == "f64" ? 64 : 32);
  };
  form.registers = {registers(m * n, types[0]), registers(m * k, types[1]), registers(k * n, types[2]),
                    registers(m * n, types[3])};
  return form;
}

void add_mma(std::vector<MatrixForm>& forms) {
  for (const unsigned k : {8u, 16u}) {
    const std::string shape = "m16n8k" + std::to_string(k);
    forms.push_back(mma(shape, 16, 8, k, {"f32", "f16", "f16", "f32"}));
    forms.push_back(mma(shape, 16, 8, k, {"f16", "f16", "f16", "f16"}));
    forms.push_back(mma(shape, 16, 8, k, {"f32", "bf16", "bf16", "f32"}));
  }
  for (const unsigned k : {4u, 8u})
    forms.push_back(mma("m16n8k" + std::to_string(k), 16, 8, k, {"f32", "tf32", "tf32", "f32"}));
  forms.push_back(mma("m8n8k4", 8, 8, 4, {"f64", "f64", "f64", "f64"}));
  for (const unsigned k : {4u, 8u, 16u})
    forms.push_back(mma("m16n8k" + std::to_string(k), 16, 8, k, {"f64", "f64", "f64", "f64"}));
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"}) {
      for (const std::string words : {"", ".satfinite"}) {
        forms.push_back(mma("m8n8k16", 8, 8, 16, {"s32", a, b, "s32"}, "row.col", words));
        forms.push_back(mma("m16n8k16", 16, 8, 16, {"s32", a, b, "s32"}, "row.col", words));
        forms.push_back(mma("m16n8k32", 16, 8, 32, {"s32", a, b, "s32"}, "row.col", words));
      }
    }
  }
  for (const std::string a : {"e4m3", "e5m2"}) {
    for (const std::string b : {"e4m3", "e5m2"}) {
      for (const std::string sum : {"f32", "f16"}) {
        for (const unsigned k : {16u, 32u})
          forms.push_back(mma("m16n8k" + std::to_string(k), 16, 8, k, {sum, a, b, sum}));
      }
    }
  }
  for (const std::string layouts : {"row.col", "col.row", "row.row", "col.col"}) {
    for (const std::string d : {"f32", "f16"}) {
      for (const std::string c : {"f32", "f16"}) {
        MatrixForm form = mma("m8n8k4", 8, 8, 4, {d, "f16", "f16", c}, layouts);
        form.registers = {d == "f32" ? 8u : 4u, 2, 2, c == "f32" ? 8u : 4u};
        if (c == "f32" && d == "f16") continue;  // PTX has no such product
        forms.push_back(form);
      }
    }
  }
}

void add_wmma(std::vector<MatrixForm>& forms, const std::string& shape, unsigned m, unsigned n, unsigned k,
              const std::string& factor, const std::string& sum, const std::string& result,
              const std::array<unsigned, 4>& registers) {
  for (const std::string of_a : {"row", "col"}) {
    for (const std::string of_b : {"row", "col"}) {
      MatrixForm form;
      form.loads = shape;
      form.layouts = {of_b, of_a, of_b, of_a};
      form.types = {result, factor, factor, sum};
      form.registers = registers;
      const auto stride = [](const std::string& layout, unsigned rows, unsigned columns) {
        return layout == "row" ? columns : rows;
      };
      form.strides = {stride(of_b, m, n), stride(of_a, m, k), stride(of_b, k, n), stride(of_a, m, n)};
      form.opcode = "wmma.mma.sync.aligned." + of_a + "." + of_b + "." + shape + "." + result +
                    (factor == "f16" ? "" : "." + factor + "." + factor) + "." + sum;
      forms.push_back(form);
    }
  }
}

// Registers as the table of matrix fragments for wmma says.
void add_all_wmma(std::vector<MatrixForm>& forms) {
  struct Shape {
    const char* name;
    unsigned m, n, k;
  };
  for (const Shape& s :
       {Shape{"m16n16k16", 16, 16, 16}, Shape{"m32n8k16", 32, 8, 16}, Shape{"m8n32k16", 8, 32, 16}}) {
    for (const std::string sum : {"f32", "f16"}) {
      for (const std::string result : {"f32", "f16"})
        add_wmma(forms, s.name, s.m, s.n, s.k, "f16", sum, result,
                 {result == "f32" ? 8u : 4u, 8, 8, sum == "f32" ? 8u : 4u});
    }
    const unsigned a = s.m * s.k / 64;
    const unsigned b = s.k * s.n / 64;
    add_wmma(forms, s.name, s.m, s.n, s.k, "bf16", "f32", "f32", {8, a, b, 8});
    for (const std::string byte : {"s8", "u8"})
      add_wmma(forms, s.name, s.m, s.n, s.k, byte, "s32", "s32", {8, a / 2, b / 2, 8});
  }
  add_wmma(forms, "m16n16k8", 16, 16, 8, "tf32", "f32", "f32", {8, 4, 4, 8});
  add_wmma(forms, "m8n8k4", 8, 8, 4, "f64", "f64", "f64", {2, 1, 1, 2});
}

}  // namespace

std::vector<MatrixForm> all_matrix_forms() {
  std::vector<MatrixForm> forms;
  add_mma(forms);
  add_all_wmma(forms);
  return forms;
}

Work work_of(const MatrixForm& form, Numbers numbers) {
  const bool wide = form.types[0] == "f64";
  const std::string word = wide ? "b64" : "b32";
  const unsigned bytes = wide ? 8 : 4;
  std::array<std::string, 4> lists;
  std::string loads;
  std::string stores;
  for (std::size_t matrix = 0; matrix < 4; ++matrix) {
    const std::string letter(1, "dabc"[matrix]);
    const std::string base = std::to_string(matrix * kMatrixBytes);
    for (unsigned i = 0; i < form.registers.at(matrix); ++i) {
      const std::string name = "%" + letter + std::to_string(i);
      lists.at(matrix) += (i == 0 ? "" : ", ") + name;
      if (form.is_wmma()) continue;
      const std::string at = "[%rd3+" + std::to_string(matrix * kMatrixBytes + i * bytes) + "]";
      if (matrix == 0) {
        stores += "st.global." + word + " " + at + ", " + name + ";\n";
      } else {
        loads += "ld.global." + word + " " + name + ", " + at + ";\n";
      }
    }
    if (!form.is_wmma()) continue;
    const std::string transfer = "." + letter + ".sync.aligned." + form.layouts.at(matrix) + "." +
                                 form.loads + ".global." + form.types.at(matrix) + " ";
    const std::string at = "[%rd2+" + base + "]";
    const std::string stride = ", " + std::to_string(form.strides.at(matrix)) + ";\n";
    if (matrix == 0) {
      stores += "wmma.store" + transfer + at + ", {" + lists[0] + "}" + stride;
    } else {
      loads += "wmma.load" + transfer + "{" + lists.at(matrix) + "}, " + at + stride;
    }
  }
  const std::string of_lane = std::to_string(kMatrixBytes / 32);
  Work work;
  work.ptx = simulator::tests::kernel_of(
      ".reg ." + word + " %d<9>, %a<9>, %b<9>, %c<9>;\nmov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, " +
      std::to_string(4 * kMatrixBytes) + "; add.u64 %rd2, %rd2, %rd1;\nmul.wide.u32 %rd3, %r1, " + of_lane +
      "; add.u64 %rd3, %rd3, %rd2;\n" + loads + form.opcode + " {" + lists[0] + "}, {" + lists[1] + "}, {" +
      lists[2] + "}, {" + lists[3] + "};\n" + stores);
  work.blocks = kProducts;
  work.memory.resize(kProducts * 4 * kMatrixBytes);
  std::seed_seq seed(form.opcode.begin(), form.opcode.end());
  std::mt19937_64 random(seed);
  for (std::size_t block = 0; block < kProducts; ++block) {
    for (std::size_t matrix = 1; matrix < 4; ++matrix) {
      const std::string& type = form.types.at(matrix);
      const std::size_t size = bits_of_type(type) / 8;
      for (std::size_t at = 0; at + size <= kMatrixBytes; at += size) {
        const std::uint64_t bits = element_bits(type, matrix != 3, numbers, random);
        std::memcpy(&work.memory[(block * 4 + matrix) * kMatrixBytes + at], &bits, size);
      }
    }
  }
  return work;
}

}  // namespace opgate::card
