#include "runtime/streams/stream.h"

namespace opgate::simulator {

bool Mark::reached() const { return stream == nullptr || stream->done >= position; }

Streams::Streams(int devices) : by_device_(static_cast<std::size_t>(devices)) {
  for (int device = 0; device < devices; ++device) make(device, cudaStreamDefault, 0)->legacy = true;
}

std::shared_ptr<Stream> Streams::make(int device, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(device, flags, priority, next_id_++);
  by_device_.at(static_cast<std::size_t>(device)).push_back(stream);
  return stream;
}

cudaStream_t Streams::create(int device, unsigned flags, int priority) {
  if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) refuse(cudaErrorInvalidValue);
  return created_.add(make(device, flags, priority));
}

std::shared_ptr<Stream> Streams::resolve(cudaStream_t handle, int device) {
  if (handle == nullptr || handle == cudaStreamLegacy) return of_device(device).front();
  if (handle != cudaStreamPerThread) return created_.at(handle);
  auto& stream = per_thread_[{std::this_thread::get_id(), device}];
  if (stream == nullptr) stream = make(device, cudaStreamDefault, 0);
  return stream;
}

void Streams::destroy(cudaStream_t handle) {
  const auto stream = created_.remove(handle);
  stream->destroyed = true;
  std::erase_if(by_device_.at(static_cast<std::size_t>(stream->device)),
                [](const auto& former) { return former->destroyed && former->idle(); });
}

}  // namespace opgate::simulator
