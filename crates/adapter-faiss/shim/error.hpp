// Turns exceptions into a return code and a text, since none may cross into Rust.

#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace annbench {

/// The point makes no sense for this index: thrown by the shim itself.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum Outcome : int { OK = 0, FAILED = 1, REFUSED = 2 };

/// Text of the last failure on this thread.
std::string& last_error();

template <class Body>
int guarded(Body&& body) noexcept {
    try {
        body();
        return OK;
    } catch (const Refused& e) {
        try {
            last_error() = e.what();
        } catch (...) {
        }
        return REFUSED;
    } catch (const std::bad_alloc&) {
        try {
            last_error() = "out of memory";
        } catch (...) {
        }
    } catch (const std::exception& e) {
        try {
            last_error() = e.what();
        } catch (...) {
        }
    } catch (...) {
        try {
            last_error() = "an exception that is no std::exception";
        } catch (...) {
        }
    }
    return FAILED;
}

} // namespace annbench
