//! Waits for several things: for any of them, or for all.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// Which of two futures was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first, with its value.
    First(A),
    /// The second, with its value.
    Second(B),
}

/// Waits until one of two futures is over; of both, the first counts. The other is withdrawn. Nest
/// it for more than two, of any types:
/// ```
/// # use warpline_process::prelude::*;
/// async fn shop(sim: Sim<u32>, till: Resource) -> &'static str {
///     match any_of(till.request(), any_of(sim.receive(), sim.sleep(5.0))).await {
///         Either::First(_till) => "pays",
///         Either::Second(Either::First(_message)) => "is called away",
///         Either::Second(Either::Second(())) => "leaves",
///     }
/// }
/// ```
pub fn any_of<A: Future, B: Future>(first: A, second: B) -> AnyOf<A, B> {
    AnyOf { first, second }
}

/// Waits until both futures are over, and returns their values. Nest it for more than two.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn unload(sim: Sim<()>, berth: Resource, tugs: Resource) {
///     let (_berth, tugs) = all_of(berth.request(), tugs.request_many(2, 0)).await;
///     sim.sleep(0.5).await;
///     tugs.release();
///     sim.sleep(8.0).await;
/// }
/// ```
pub fn all_of<A: Future, B: Future>(first: A, second: B) -> AllOf<A, B> {
    AllOf { first, second, first_value: None, second_value: None }
}

/// Waits until one of the futures in a list is over, and returns its place and its value; of
/// several, the first counts. The others are withdrawn.
///
/// Futures of an `async` block must be boxed: `Box::pin(async { … })`.
///
/// ```
/// # use warpline_process::prelude::*;
/// /// Stands in the queues of all tills, and stays where it is its turn first.
/// async fn customer(sim: Sim<()>, tills: Vec<Resource>) {
///     let (_place, till) = any_in(tills.iter().map(|till| till.request())).await;
///     sim.sleep(2.0).await;
///     till.release();
///     all_in(tills.iter().map(|till| till.request())).await; // buys them all out
/// }
/// ```
///
/// # Panics
/// If the list is empty, as nothing would ever come.
pub fn any_in<F: Future + Unpin>(futures: impl IntoIterator<Item = F>) -> AnyIn<F> {
    let futures: Vec<F> = futures.into_iter().collect();
    assert!(!futures.is_empty(), "any of no futures is awaited, which would take for ever");
    AnyIn { futures }
}

/// Waits until all futures in a list are over, and returns their values.
///
/// Futures of an `async` block must be boxed: `Box::pin(async { … })`.
pub fn all_in<F: Future + Unpin>(futures: impl IntoIterator<Item = F>) -> AllIn<F> {
    AllIn { parts: futures.into_iter().map(Part::Awaited).collect() }
}

/// Waits until `count` of the futures in a list are over. Returns what has come of each, in the order
/// of the list: `None` of those that are not over, which are withdrawn. If more than `count` are
/// over at that instant, all of their values are there.
///
/// ```
/// # use warpline_process::prelude::*;
/// async fn vote(sim: Sim<()>, opinions: [Process<bool>; 3]) -> bool {
///     let heard = some_in(2, opinions.map(|opinion| sim.join(opinion))).await;
///     heard.into_iter().flatten().all(|opinion| opinion == Ok(true))
/// }
/// ```
/// Futures of an `async` block must be boxed: `Box::pin(async { … })`.
///
/// # Panics
/// If the list has fewer than `count` futures, as so many would never come.
pub fn some_in<F: Future + Unpin>(count: usize, futures: impl IntoIterator<Item = F>) -> SomeIn<F> {
    let parts: Vec<Part<F>> = futures.into_iter().map(Part::Awaited).collect();
    let all = parts.len();
    assert!(count <= all, "{count} of {all} futures are awaited, which would take for ever");
    SomeIn { count, parts }
}

pin_project! {
    /// See [`any_of`].
    #[must_use = "futures do nothing unless they are awaited"]
    #[derive(Debug)]
    pub struct AnyOf<A, B> {
        #[pin]
        first: A,
        #[pin]
        second: B,
    }
}

impl<A: Future, B: Future> Future for AnyOf<A, B> {
    type Output = Either<A::Output, B::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(value) = this.first.poll(context) {
            return Poll::Ready(Either::First(value));
        }
        this.second.poll(context).map(Either::Second)
    }
}

pin_project! {
    /// See [`all_of`].
    #[must_use = "futures do nothing unless they are awaited"]
    #[derive(Debug)]
    pub struct AllOf<A: Future, B: Future> {
        #[pin]
        first: A,
        #[pin]
        second: B,
        first_value: Option<A::Output>,
        second_value: Option<B::Output>,
    }
}

impl<A: Future, B: Future> Future for AllOf<A, B> {
    type Output = (A::Output, B::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.first_value.is_none()
            && let Poll::Ready(value) = this.first.poll(context)
        {
            *this.first_value = Some(value);
        }
        if this.second_value.is_none()
            && let Poll::Ready(value) = this.second.poll(context)
        {
            *this.second_value = Some(value);
        }
        if this.first_value.is_none() || this.second_value.is_none() {
            return Poll::Pending;
        }
        match (this.first_value.take(), this.second_value.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            _ => Poll::Pending,
        }
    }
}

/// See [`any_in`].
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct AnyIn<F> {
    futures: Vec<F>,
}

impl<F: Future + Unpin> Future for AnyIn<F> {
    type Output = (usize, F::Output);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        for (place, future) in self.futures.iter_mut().enumerate() {
            if let Poll::Ready(value) = Pin::new(future).poll(context) {
                return Poll::Ready((place, value));
            }
        }
        Poll::Pending
    }
}

#[derive(Debug)]
enum Part<F: Future> {
    Awaited(F),
    Over(Option<F::Output>),
}

/// See [`all_in`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct AllIn<F: Future> {
    parts: Vec<Part<F>>,
}

impl<F: Future> Unpin for AllIn<F> {}

impl<F: Future + Unpin> Future for AllIn<F> {
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if poll_parts(&mut self.parts, context) < self.parts.len() {
            return Poll::Pending;
        }
        Poll::Ready(take_values(&mut self.parts).flatten().collect())
    }
}

/// See [`some_in`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct SomeIn<F: Future> {
    count: usize,
    parts: Vec<Part<F>>,
}

impl<F: Future> Unpin for SomeIn<F> {}

impl<F: Future + Unpin> Future for SomeIn<F> {
    type Output = Vec<Option<F::Output>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if poll_parts(&mut self.parts, context) < self.count {
            return Poll::Pending;
        }
        Poll::Ready(take_values(&mut self.parts).collect())
    }
}

/// Polls all that are not over, and returns how many are.
fn poll_parts<F: Future + Unpin>(parts: &mut [Part<F>], context: &mut Context<'_>) -> usize {
    let mut over = 0;
    for part in parts {
        if let Part::Awaited(future) = part
            && let Poll::Ready(value) = Pin::new(future).poll(context)
        {
            *part = Part::Over(Some(value));
        }
        over += usize::from(matches!(part, Part::Over(_)));
    }
    over
}

fn take_values<F: Future>(parts: &mut [Part<F>]) -> impl Iterator<Item = Option<F::Output>> {
    parts.iter_mut().map(|part| match part {
        Part::Over(value) => value.take(),
        Part::Awaited(_) => None,
    })
}
