//! Says what a column of a CSV file is, and which distributions fit it.
//!
//! ```sh
//! cargo run --release --package warpline-series --example describe -- FILE [COLUMN]
//! ```

use std::time::Instant;

use warpline_series::{Fit, Reader, SeriesError};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (file, column) = (arguments.next().unwrap_or_default(), arguments.next());
    if let Err(why) = describe(&file, &column.unwrap_or_default()) {
        println!("{why}");
    }
}

fn describe(file: &str, column: &str) -> Result<(), SeriesError> {
    let start = Instant::now();
    let [series] = Reader::new().read_file(file, [column])?;
    println!("{file}, `{}`: {series}, in {:.2?}", series.column(), start.elapsed());
    for fit in Fit::all(&series)? {
        println!("  {fit}");
    }
    Ok(())
}
