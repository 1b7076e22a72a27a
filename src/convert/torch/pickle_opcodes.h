// The instructions of Python's pickles that unpickler.h reads, under the names that Python's pickletools gives them.
#pragma once

#include <cstdint>

namespace dragoman::internal::pickle_opcodes {

enum Opcode : uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  binfloat = 'G',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  none = 'N',
  long1 = 0x8a,
  long4 = 0x8b,
  newtrue = 0x88,
  newfalse = 0x89,
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes = 'B',
  short_binbytes = 'C',
  binbytes8 = 0x8e,
  bytearray8 = 0x96,
  empty_dict = '}',
  empty_list = ']',
  empty_tuple = ')',
  empty_set = 0x8f,
  append = 'a',
  appends = 'e',
  setitem = 's',
  setitems = 'u',
  additems = 0x90,
  frozenset = 0x91,
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  binget = 'h',
  long_binget = 'j',
  binput = 'q',
  long_binput = 'r',
  memoize = 0x94,
  global = 'c',
  stack_global = 0x93,
  reduce = 'R',
  newobj = 0x81,
  newobj_ex = 0x92,
  build = 'b',
  binpersid = 'Q',
  proto = 0x80,
  frame = 0x95
};

}  // namespace dragoman::internal::pickle_opcodes
