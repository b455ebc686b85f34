//! The bar of a command that goes over many rows. Nothing is drawn unless stderr is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TICK: Duration = Duration::from_millis(200);

/// A spinner until the first rows are reported to it, then a bar.
pub fn bar(what: &'static str) -> anyhow::Result<ProgressBar> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template("{msg} {elapsed_precise} {spinner}")?);
    bar.set_message(what);
    bar.enable_steady_tick(TICK);
    Ok(bar)
}

/// Reports rows to the bar.
pub fn rows(bar: &ProgressBar) -> anyhow::Result<impl FnMut(u64, u64)> {
    let style = ProgressStyle::with_template(
        "{msg} {elapsed_precise} {wide_bar} {human_pos}/{human_len} rows, {eta} left",
    )?;
    let bar = bar.clone();
    Ok(move |done, all| {
        if bar.length().is_none() {
            bar.set_style(style.clone());
        }
        bar.set_length(all);
        bar.set_position(done);
    })
}
