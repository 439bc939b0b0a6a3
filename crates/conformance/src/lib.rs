//! What every adapter must pass.
