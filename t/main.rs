//! The tests against a real NGINX: one file a feature.

mod abort;
mod config;
mod flush;
mod pool;
mod serve;
mod smoke;
mod statics;
mod support;
mod variables;
