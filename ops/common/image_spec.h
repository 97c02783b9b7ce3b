// What the specs of crop and paste share.
#pragma once

#include <opgate/spec.h>

namespace opgate_ops {

inline opgate::Dtypes image_dtypes() {
  opgate::Dtypes dtypes = opgate::floating();
  dtypes.push_back(at::kByte);
  return dtypes;
}

}  // namespace opgate_ops
