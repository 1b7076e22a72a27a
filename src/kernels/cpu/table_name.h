// DRAGOMAN_TABLE_NAME: what the table of this translation unit's instruction set is called, kernels_avx2 for example.
#pragma once

#define DRAGOMAN_JOIN2(a, b) a##b
#define DRAGOMAN_JOIN(a, b) DRAGOMAN_JOIN2(a, b)
#define DRAGOMAN_TABLE_NAME DRAGOMAN_JOIN(kernels_, DRAGOMAN_INSTRUCTION_SET)
