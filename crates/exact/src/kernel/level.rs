/// An instruction set. Only ever made where the CPU has it and the system permits it; each one has
/// all that the ones before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the compiler makes of plain loops.
    Portable,
    /// AVX2 with FMA and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, VL and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// And its sums of four products of bytes.
    #[cfg(target_arch = "x86_64")]
    Vnni,
    /// And its sums of two products of bfloat16.
    #[cfg(target_arch = "x86_64")]
    Bf16,
    /// And tile registers with products of bytes and of bfloat16.
    #[cfg(target_arch = "x86_64")]
    Amx,
}

impl Level {
    /// The widest that this CPU has.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if !(has!("avx2") && has!("fma") && has!("popcnt")) {
                return Level::Portable;
            }
            if !(has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq")) {
                return Level::Avx2;
            }
            if !has!("avx512vnni") {
                return Level::Avx512;
            }
            if !has!("avx512bf16") {
                return Level::Vnni;
            }
            if crate::panel::tiles_are_usable() {
                return Level::Amx;
            }
            Level::Bf16
        }
        #[cfg(not(target_arch = "x86_64"))]
        Level::Portable
    }

    /// Its name, for records.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Vnni => "avx512_vnni",
            #[cfg(target_arch = "x86_64")]
            Level::Bf16 => "avx512_bf16",
            #[cfg(target_arch = "x86_64")]
            Level::Amx => "amx",
        }
    }

    /// Every one that this CPU has, the portable one first.
    pub fn available() -> Vec<Level> {
        let mut levels = vec![
            Level::Portable,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512,
            #[cfg(target_arch = "x86_64")]
            Level::Vnni,
            #[cfg(target_arch = "x86_64")]
            Level::Bf16,
            #[cfg(target_arch = "x86_64")]
            Level::Amx,
        ];
        let widest = Level::detect();
        levels.retain(|&level| level <= widest);
        levels
    }
}

/// The instruction set that searches use on this CPU.
pub fn simd_level() -> &'static str {
    Level::detect().name()
}
