//! Independent work on one thread per core.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::anyhow;

/// The results of `work` for each number below `count`, in order of the numbers.
///
/// # Errors
/// An error of `work`, or a panic in it.
pub fn each<T: Send>(count: u64, work: impl Fn(u64) -> anyhow::Result<T> + Sync) -> anyhow::Result<Vec<T>> {
    let next = AtomicU64::new(0);
    let worker = || -> anyhow::Result<Vec<(u64, T)>> {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        numbers.take_while(|number| *number < count).map(|number| Ok((number, work(number)?))).collect()
    };
    let threads = std::thread::available_parallelism()?.get();
    let results: Vec<anyhow::Result<Vec<(u64, T)>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().map_err(|_| anyhow!("a thread panicked")).flatten())
            .collect()
    });
    let mut all: Vec<(u64, T)> =
        results.into_iter().collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect();
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_is_returned() {
        assert_eq!(each(100, |number| Ok(number * 2)).unwrap(), (0..200).step_by(2).collect::<Vec<_>>());
        assert!(each(0, Ok).unwrap().is_empty());
        let failed = each(9, |number| if number == 7 { Err(anyhow!("seven")) } else { Ok(number) });
        assert_eq!(failed.unwrap_err().to_string(), "seven");
    }
}
