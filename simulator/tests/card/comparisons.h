// Comparisons of the two sides. Each gives lines of JSON, which the report is made of.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "card/forms/form.h"
#include "card/forms/kernel_form.h"
#include "card/forms/matrix_form.h"
#include "card/side.h"
#include "unit/random_program.h"

namespace opgate::card {

struct Sides {
  Side& simulator;
  Side& card;
};

/// Results of a card, by the texts of the forms.
using Recorded = std::map<std::string, std::string>;

/// What names a product of matrices, or a program, in the results.
std::string text_of(const MatrixForm& form, Numbers numbers);
std::string text_of_program(unsigned seed);

nlohmann::json compare_form(const Sides& sides, const Form& form);
nlohmann::json compare_matrices(const Sides& sides, const MatrixForm& form, Numbers numbers);
nlohmann::json compare_kernel(const Sides& sides, const KernelForm& form);

/// Random instructions whose results PTX defines to the last bit.
simulator::tests::RandomProgram program_of(unsigned seed);

/// A program of random instructions. Where results differ, the line names the first instruction after which
/// they do.
nlohmann::json compare_program(const Sides& sides, unsigned seed);

/// The same with what a card gave earlier, of which digests are known. Null for what is not among it.
nlohmann::json compare_form_with(const Recorded& recorded, Side& simulator, const Form& form);
nlohmann::json compare_matrices_with(const Recorded& recorded, Side& simulator, const MatrixForm& form,
                                     Numbers numbers);
nlohmann::json compare_kernel_with(const Recorded& recorded, Side& simulator, const KernelForm& form);
nlohmann::json compare_program_with(const Recorded& recorded, Side& simulator, unsigned seed);

}  // namespace opgate::card
