//! Records to table, plot and CSV.
