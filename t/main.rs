//! The tests against a real NGINX: one file a feature.

mod abort;
mod coexist;
mod config;
mod configurations;
mod dictionary;
mod differential;
mod docs;
mod ending;
mod examples;
mod field_bugs;
mod headers;
mod memory;
mod pool;
mod refused;
mod serve;
mod slow;
mod smoke;
mod statics;
mod status;
mod streaming;
mod support;
mod tls;
mod variables;
