// The compiled parts of Asio and Beast, once for all files of this folder (cmake/server.cmake).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
