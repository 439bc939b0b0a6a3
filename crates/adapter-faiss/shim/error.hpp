// Turns exceptions into a return code and a text, since none may cross into Rust.

#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace annbench {

/// The point makes no sense for this index: thrown by the shim itself.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum Outcome : int { OK = 0, FAILED = 1, REFUSED = 2, OUT_OF_MEMORY = 3 };

/// Text of the last failure on this thread.
std::string& last_error();

/// Keeps `text`, or none where there is no memory for it: never that of an earlier failure.
inline void keep(const char* text) noexcept {
    try {
        last_error() = text;
    } catch (...) {
        last_error().clear();
    }
}

template <class Body>
int guarded(Body&& body) noexcept {
    try {
        body();
        return OK;
    } catch (const Refused& e) {
        keep(e.what());
        return REFUSED;
    } catch (const std::bad_alloc&) {
        // What what() says differs between libraries; this is what the runner looks for, and short
        // enough to need no memory.
        keep("std::bad_alloc");
        return OUT_OF_MEMORY;
    } catch (const std::exception& e) {
        keep(e.what());
    } catch (...) {
        keep("an exception that is no std::exception");
    }
    return FAILED;
}

} // namespace annbench
