//! The tests against a real NGINX: one file a feature.

mod pool;
mod serve;
mod smoke;
mod support;
