"""Uses a libzstd.so, given by path, in a process that knows nothing of it."""
import ctypes
import sys

lib = ctypes.CDLL(sys.argv[1])
for name in ("ZSTD_compressBound", "ZSTD_compress", "ZSTD_decompress"):
    getattr(lib, name).restype = ctypes.c_size_t
lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
lib.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
lib.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]

data = open(sys.argv[2], "rb").read()
room = lib.ZSTD_compressBound(len(data))
packed, back = ctypes.create_string_buffer(room), ctypes.create_string_buffer(len(data))
n = lib.ZSTD_compress(packed, room, data, len(data), 3)
assert lib.ZSTD_decompress(back, len(data), packed, n) == len(data) and back.raw == data
print(n)
