// Boost.Asio as the files of this folder use it.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

namespace dragoman::internal {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

}  // namespace dragoman::internal
