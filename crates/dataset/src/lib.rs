//! Files to checked, mapped, fingerprinted base, queries and ground truth.
