//! One worker per build: spawn, limits, deadlines, messages.
