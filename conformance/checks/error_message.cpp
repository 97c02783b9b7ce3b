// error.message: the exception for a bad input names what is wrong.
//
// What an operator refuses is one promise, error.raises; how it says so is another. An operator makes it by
// name, clear_errors: until then a message that names nothing is a note.
#include <fmt/format.h>

#include "base/text.h"
#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/fault.h"
#include "judging/refusals/clear_message.h"
#include "judging/verdict.h"
#include "spec/spec.h"

namespace opgate::error_message {
namespace {

Judgement unclear(const CallKey& key, Finding finding) {
  if (key.spec->promised(Promise::clear_errors)) return Judgement::fail(std::move(finding));
  return Judgement::note(std::move(finding));
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Observation& call = under_test.observed();
  if (call.outcome.ok()) return Judgement::pass();
  const Raised& raised = *call.outcome.raised;
  const std::string& message = raised.message;
  const bool is_rejection = key.spec->find_rejection(*key.sample) != nullptr;
  if (const auto useless = raised.has_text ? useless_message(message) : "the message is empty") {
    return unclear(key, {"an exception says what is wrong with the arguments",
                         "raised: " + message,
                         *useless,
                         {fault::kMessage, first_line(message)},
                         {},
                         message});
  }
  if (is_rejection)
    return Judgement::pass();  // its spec says which words it wants, and error.raises looks for them
  const BadInput bad = find_bad_input(key);
  // There are many words for an argument without elements, and most of them are about what would be read.
  if (bad.damage.kind == InputDamage::Kind::no_rows) return Judgement::pass();
  const std::string advice = "say which argument is wrong and what was given: \"x must ..., got \"";
  Finding finding{fmt::format("where {}, the exception names what is wrong", in_words(bad.damage)),
                  "raised: " + message,
                  advice,
                  {fault::kMessage, first_line(message)},
                  {},
                  message};
  if (!key.spec->promised(Promise::clear_errors)) {
    const bool says_something = names_what_is_wrong(message, bad, key, call.arguments);
    return says_something ? Judgement::pass() : Judgement::note(std::move(finding));
  }
  const auto lacks = lacking_in_message(message, bad, key, call.arguments);
  if (!lacks) return Judgement::pass();
  finding.promised = fmt::format("where {}, the exception names the argument and what is wrong with it",
                                 in_words(bad.damage));
  finding.likely = *lacks + "; " + advice;
  return Judgement::fail(std::move(finding));
}

OPGATE_REGISTER_CHECK(error_message, {.name = "error.message",
                                      .scope = {.variants = Scope::Variants::bad,
                                                .dtypes = Scope::Dtypes::first,
                                                .drafts = false},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::error_message
