// What the shared library shows: everything marked so, and nothing else.
#pragma once

#define DRAGOMAN_API __attribute__((visibility("default")))
