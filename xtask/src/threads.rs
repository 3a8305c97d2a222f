//! Work that many things need, each for itself, on as many threads as the machine has cores.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::anyhow;

/// What `work` makes of each number below `count`, in order of the numbers.
///
/// # Errors
/// The first error of `work`, or that it panicked.
pub fn each<T: Send>(count: u64, work: impl Fn(u64) -> anyhow::Result<T> + Sync) -> anyhow::Result<Vec<T>> {
    let next = AtomicU64::new(0);
    let part = || -> anyhow::Result<Vec<(u64, T)>> {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        numbers.take_while(|number| *number < count).map(|number| Ok((number, work(number)?))).collect()
    };
    let threads = std::thread::available_parallelism()?.get();
    let parts: Vec<anyhow::Result<Vec<(u64, T)>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(part)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().map_err(|_| anyhow!("a thread panicked")).flatten())
            .collect()
    });
    let mut all: Vec<(u64, T)> =
        parts.into_iter().collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect();
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, made)| made).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_is_one_of_all() {
        assert_eq!(each(100, |number| Ok(number * 2)).unwrap(), (0..200).step_by(2).collect::<Vec<_>>());
        assert!(each(0, Ok).unwrap().is_empty());
        let failed = each(9, |number| if number == 7 { Err(anyhow!("seven")) } else { Ok(number) });
        assert_eq!(failed.unwrap_err().to_string(), "seven");
    }
}
