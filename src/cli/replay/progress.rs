//! The bar that moves while a run goes on.

use std::rc::Rc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::sleep;

use super::fleet::Fleet;

const TICK: Duration = Duration::from_millis(200);

/// `expected`: how many pages the run comes to, if that is known. Nothing is drawn unless stderr is a terminal.
pub fn bar(expected: Option<u64>, hidden: bool) -> anyhow::Result<ProgressBar> {
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(expected, target);
    let template = match expected {
        Some(_) => "{elapsed_precise} {wide_bar} {human_pos}/{human_len} {per_sec} {msg}",
        None => "{elapsed_precise} {spinner} {human_pos} {per_sec} {msg}",
    };
    bar.set_style(ProgressStyle::with_template(template)?);
    Ok(bar)
}

/// Moves the bar for ever: drop the task to end it.
pub async fn show(bar: ProgressBar, fleet: Rc<Fleet>) {
    loop {
        {
            let meters = fleet.meters.borrow();
            bar.set_position(meters.pages.max(meters.urls_handed_out));
            let (flying, errors) = (fleet.in_flight.get(), meters.errors.total());
            bar.set_message(format!("{flying} in flight, {errors} errors"));
        }
        sleep(TICK).await;
    }
}
