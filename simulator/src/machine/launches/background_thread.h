// Threads that the simulator begins for itself.
#pragma once

#include <functional>
#include <thread>

namespace opgate::simulator {

/// A thread that gets no signals of the program, but for those that an instruction of its own causes. Throws
/// std::system_error if the system has no more threads.
std::thread begin_background_thread(std::function<void()> work);

}  // namespace opgate::simulator
