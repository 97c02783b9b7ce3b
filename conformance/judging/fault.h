// What findings of several checks can have in common: the kinds of Fault. Other faults are those of one
// check.
#pragma once

namespace opgate::fault {

// Memory. Not about an argument: blocks that the operator allocates have no name.
inline constexpr auto kWritesOutside =
    "writes outside";                                   ///< of its arguments and blocks, or into freed memory
inline constexpr auto kReadsOutside = "reads outside";  ///< and the result depends on what is there
inline constexpr auto kUninitialised = "uninitialised";  ///< a result depends on memory before it is written

// Arguments.
inline constexpr auto kLayout = "layout";      ///< the result depends on the layout of the argument
inline constexpr auto kMutation = "mutation";  ///< the argument is written, or its sizes are changed
inline constexpr auto kMutationWithGradients =
    "mutation with gradients";  ///< it is written in calls whose inputs require gradients, and in no other
inline constexpr auto kAlias = "alias";           ///< a result is the argument, or shares its memory
inline constexpr auto kAmongResults = "results";  ///< what kAlias is about where two results share memory
inline constexpr auto kUnchecked = "unchecked";   ///< a bad input is accepted; about the argument
inline constexpr auto kMessage = "message";       ///< a refusal does not help; about its text

// Results.
inline constexpr auto kValues = "values";      ///< they differ from the reference's on the sample as it is
inline constexpr auto kGradient = "gradient";  ///< of the argument, from the derivative
inline constexpr auto kNoDerivative =
    "no derivative";  ///< no output requires a gradient, though an input does
inline constexpr auto kWrittenCotangent =
    "incoming gradient";                      ///< is written by the backward; about the output
inline constexpr auto kFake = "fake kernel";  ///< its results differ from the operator's, or it raises
inline constexpr auto kFakeAccepts = "fake kernel accepts";  ///< what the operator refuses
inline constexpr auto kState = "state";                      ///< of the process is changed; about the setting
inline constexpr auto kDangling = "dangling";                ///< a result lies in memory that it does not own
inline constexpr auto kKept = "kept";                        ///< something is kept from an earlier call
inline constexpr auto kFirstCall =
    "first call";  ///< what kKept is about where the first call with new sizes differs from the next one
inline constexpr auto kUnstable = "unstable";  ///< results differ from call to call
inline constexpr auto kRandom =
    "random numbers";  ///< are drawn, and nothing says so: two calls differ by them alone

}  // namespace opgate::fault
