"""DLPack tensors for functions of C, by ctypes."""

import ctypes

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def tensor(array: np.ndarray) -> DLTensor:
    """A tensor on the memory of the array; shape and strides may be changed in `keep`."""
    sizes = ctypes.c_int64 * max(array.ndim, 1)
    shape = sizes(*array.shape)
    strides = sizes(*(stride // array.itemsize for stride in array.strides))
    result = DLTensor(
        data=array.ctypes.data,
        device_type=1,
        ndim=array.ndim,
        code=CODES[array.dtype.kind],
        bits=8 * array.itemsize,
        lanes=1,
        shape=shape,
        strides=strides,
    )
    result.keep = (array, shape, strides)
    return result
