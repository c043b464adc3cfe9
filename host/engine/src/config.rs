//! How wasmtime is set up. The settings that shape compiled code are the same when components are compiled ahead.

use crate::limits;
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

/// The platform that this crate was built for.
pub(crate) const TARGET: &str = env!("WINDLASS_TARGET");

/// What compiled code depends on.
fn shared() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        // No plugin interface has streams or async functions, and without them a call costs a third.
        .concurrency_support(false)
        .max_wasm_stack(limits::STACK)
        .memory_reservation(limits::MEMORY_RESERVATION)
        .memory_init_cow(true)
        // Answers must not depend on the machine: NaNs have many bit patterns.
        .cranelift_nan_canonicalization(true)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false);
    config
}

/// For running: instances come from a pool.
pub(crate) fn running() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    let per_component = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    pool.total_component_instances(limits::INSTANCES)
        .total_core_instances(limits::INSTANCES * 4)
        .total_memories(limits::INSTANCES)
        .total_tables(limits::INSTANCES * 3)
        .max_core_instances_per_component(per_component(limits::CORE_INSTANCES))
        .max_memories_per_component(per_component(limits::MEMORIES))
        .max_tables_per_component(per_component(limits::TABLES))
        .max_memory_size(limits::MEMORY)
        .table_elements(limits::TABLE_ELEMENTS)
        .linear_memory_keep_resident(limits::KEEP_RESIDENT)
        .max_unused_warm_slots(limits::WARM_SLOTS);
    let mut config = shared();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// For running where the system grants no address space for a pool (`ulimit -v`): instances are mapped one by one.
pub(crate) fn running_without_pool() -> Config {
    shared()
}

/// For compiling ahead: for any CPU of the platform, not for the one that compiles.
pub(crate) fn ahead() -> Result<Config, wasmtime::Error> {
    let mut config = shared();
    config.target(TARGET)?;
    Ok(config)
}
