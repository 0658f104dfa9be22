"""Run under `valgrind --tool=callgrind --instr-atstart=no`: makes CALLS calls of each of KINDS, and
has the instructions of each kind dumped to a file, in order.
"""

import ctypes
import mmap

import lanewise as lw
import numpy as np

# What valgrind takes for a request when it meets it; elsewhere it does nothing. The address of the
# request comes in rdi.
REQUEST_CODE = bytes.fromhex(
    "4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3".replace(" ", "")
)
DUMP, START, STOP = 0x43540000, 0x43540004, 0x43540005

CALLS = 1000


def valgrind_request(code: int) -> None:
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(REQUEST_CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    request = (ctypes.c_uint64 * 6)(code)
    ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)(ctypes.addressof(request))


@lw.jit
def f(a, b):
    return 2 * a + 3 * b


def arguments(make):
    return [make(np.ones(4, np.float32)) for _ in range(2)]


def call_arrays():
    a, b = arguments(lw.asarray)
    return lambda: f(a, b)


def call_out():
    a, b = arguments(lw.asarray)
    out = f(a, b)
    return lambda: f(a, b, out=out)


def call_ndarrays():
    a, b = arguments(np.asarray)
    return lambda: f(a, b)


def record():
    a = lw.asarray(np.ones(4, np.float32))
    return lambda: a * 2.5


def evaluate():
    a, b = arguments(lw.asarray)
    return lambda: lw.eval((a * 2.5 + b) - 1.5)


KINDS = {
    function.__name__: function
    for function in (call_arrays, call_out, call_ndarrays, record, evaluate)
}

if __name__ == "__main__":
    for make in KINDS.values():
        call = make()
        for _ in range(10):
            call()
        valgrind_request(START)
        for _ in range(CALLS):
            call()
        valgrind_request(STOP)
        valgrind_request(DUMP)
