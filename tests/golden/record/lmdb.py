"""A small LMDB database, written through liblmdb itself."""
import ctypes
import ctypes.util
import os

lib = ctypes.CDLL(ctypes.util.find_library("lmdb") or "liblmdb.so.0")
CREATE = 0x40000


class Value(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_char_p)]


def call(name, *args):
    status = getattr(lib, name)(*args)
    if status:
        raise OSError("%s: %d" % (name, status))


def write(folder, records):
    """records: key -> value, both bytes."""
    os.makedirs(folder)
    env, txn, dbi = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
    call("mdb_env_create", ctypes.byref(env))
    call("mdb_env_open", env, folder.encode(), 0, 0o644)
    call("mdb_txn_begin", env, None, 0, ctypes.byref(txn))
    call("mdb_dbi_open", txn, None, CREATE, ctypes.byref(dbi))
    for key, value in records.items():
        k, v = Value(len(key), key), Value(len(value), value)
        call("mdb_put", txn, dbi, ctypes.byref(k), ctypes.byref(v), 0)
    call("mdb_txn_commit", txn)
    lib.mdb_env_close(env)
    os.remove(os.path.join(folder, "lock.mdb"))
