#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| annbench_dataset_fuzz::read("npy", bytes));
