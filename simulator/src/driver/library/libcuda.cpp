// libcuda.so.1 for machines without a driver. It is empty: the driver's functions are in libcudart.so.13,
// which has the devices and which this library needs, so that programs that open this one find them, too.
