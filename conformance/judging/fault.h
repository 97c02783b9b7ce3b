// What findings of several checks can have in common: the kinds of Fault. Other faults are those of one
// check.
#pragma once

#include <string_view>

namespace opgate::fault {

// Memory. Not about an argument: blocks that the operator allocates have no name.
inline constexpr std::string_view kWritesOutside =
    "writes outside";  ///< of its arguments and blocks, or into freed memory
inline constexpr std::string_view kReadsOutside =
    "reads outside";  ///< and the result depends on what is there
inline constexpr std::string_view kUninitialised =
    "uninitialised";  ///< a result depends on memory before it is written

// Arguments.
inline constexpr std::string_view kLayout = "layout";  ///< the result depends on the layout of the argument
inline constexpr std::string_view kMutation =
    "mutation";  ///< the argument is written, or its sizes are changed
inline constexpr std::string_view kMutationWithGradients =
    "mutation with gradients";  ///< it is written in calls whose inputs require gradients, and in no other
inline constexpr std::string_view kAlias = "alias";  ///< a result is the argument, or shares its memory
inline constexpr std::string_view kAmongResults =
    "results";  ///< what kAlias is about where two results share memory
inline constexpr std::string_view kUnchecked = "unchecked";  ///< a bad input is accepted; about the argument
inline constexpr std::string_view kMessage = "message";      ///< a refusal does not help; about its text

// Results.
inline constexpr std::string_view kValues =
    "values";  ///< they differ from the reference's on the sample as it is
inline constexpr std::string_view kGradient = "gradient";  ///< of the argument, from the derivative
inline constexpr std::string_view kWrittenCotangent =
    "incoming gradient";  ///< is written by the backward; about the output
inline constexpr std::string_view kFake =
    "fake kernel";  ///< its results differ from the operator's, or it raises
inline constexpr std::string_view kFakeAccepts = "fake kernel accepts";  ///< what the operator refuses
inline constexpr std::string_view kState = "state";        ///< of the process is changed; about the setting
inline constexpr std::string_view kDangling = "dangling";  ///< a result lies in memory that it does not own
inline constexpr std::string_view kKept = "kept";          ///< something is kept from an earlier call
inline constexpr std::string_view kFirstCall =
    "first call";  ///< what kKept is about where the first call with new sizes differs from the next one
inline constexpr std::string_view kUnstable = "unstable";  ///< results differ from call to call
inline constexpr std::string_view kRandom =
    "random numbers";  ///< are drawn, and nothing says so: two calls differ by them alone

}  // namespace opgate::fault
