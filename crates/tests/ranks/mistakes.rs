//! Wrong uses of MPI, and what is said of them.

use super::*;

fn target() -> Target {
    Target::flat(Wire::new(1e-6, 1e9)).eager_up_to(1000)
}

#[track_caller]
fn says(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "`{word}` in: {error}");
    }
    assert!(
        error.contains("mistakes.rs:") || words.is_empty(),
        "a line of the program in: {error}"
    );
}

#[test]
fn a_message_that_is_too_long_names_both_ranks_and_calls() {
    for bytes in [16, 5000] {
        let error = failure(2, &target(), move |rank| async move {
            if rank.id() == 0 {
                rank.send(1, 9, Data::size(bytes)).await;
            } else {
                rank.recv(0, 9, 8).await;
            }
        });
        let sent = format!("{bytes} bytes that rank 0 sent with tag 9 by MPI_Send");
        says(&error, &["rank 1, in MPI_Recv at ", "takes 8 bytes at most", &sent]);
    }
}

#[test]
fn different_calls_of_all_ranks_are_found() {
    let error = failure(2, &target(), |rank| async move {
        rank.barrier().await;
        if rank.id() == 0 {
            rank.allreduce(Op::Sum, [1u32]).await;
        } else {
            rank.barrier().await;
        }
    });
    says(&error, &["MPI_Barrier", "MPI_Allreduce", "call 2 of all ranks", "same order"]);
}

#[test]
fn different_sizes_and_types_in_a_reduction_are_found() {
    let error = failure(2, &target(), |rank| async move {
        let values = vec![1u32; 1 + rank.id() as usize];
        rank.allreduce(Op::Sum, &values).await;
    });
    says(&error, &["MPI_Allreduce at ", "4 and of 8 bytes"]);
    let error = failure(2, &target(), |rank| async move {
        let data = if rank.id() == 0 { Data::from([1u32]) } else { Data::from([1f32]) };
        rank.allreduce(Op::Sum, data).await;
    });
    says(&error, &["type u32", "f32"]);
    let error = failure(2, &target(), |rank| async move {
        rank.allreduce(Op::BitXor, [1f64]).await;
    });
    says(&error, &["MPI_BXOR means nothing for values of type f64"]);
}

#[test]
fn a_request_that_nobody_waits_for_is_named() {
    let error = failure(2, &target(), |rank| async move {
        let _forgotten = rank.irecv(1 - rank.id(), 3, 8);
    });
    says(
        &error,
        &["rank 0, in MPI_Finalize", "MPI_Irecv at ", "rank 1 with tag 3", "wait for each"],
    );
}

#[test]
fn a_message_that_nobody_receives_is_named() {
    for computes in [0.0, 1.0] {
        let error = failure(2, &target(), move |rank| async move {
            if rank.id() == 0 {
                rank.send(1, 5, [1u8]).await;
            } else {
                rank.compute(computes).await;
            }
        });
        says(&error, &["rank 1, in MPI_Finalize", "1 bytes that rank 0 sent with tag 5"]);
    }
}

#[test]
fn a_deadlock_lists_who_waits_for_whom_and_where() {
    let run = simulate(3, &target(), |rank| async move {
        // Everybody waits for the next one, who sends only after that.
        let next = (rank.id() + 1) % 3;
        rank.recv(next, 1, 8).await;
        rank.send(next, 1, Data::size(8)).await;
    });
    let stuck = run.record.stuck.expect("nobody can go on");
    assert_eq!(stuck.waits, 3);
    for (rank, line) in stuck.lines.iter().enumerate() {
        let wanted =
            format!("rank {rank} waits for a message of rank {} with tag 1", (rank + 1) % 3);
        says(line, &[&wanted, "in MPI_Recv at "]);
    }
    let run = simulate(2, &target(), |rank| async move {
        // Long messages need their receivers.
        rank.send(1 - rank.id(), 1, Data::size(1 << 20)).await;
        rank.recv(1 - rank.id(), 1, 1 << 20).await;
    });
    let stuck = run.record.stuck.expect("nobody can go on");
    says(&stuck.lines[0], &["rank 0 waits for rank 1 to receive 1048576 bytes", "MPI_Send at "]);
}

#[test]
fn a_loop_without_time_is_stopped() {
    let error = failure(2, &target(), |rank| async move {
        loop {
            rank.send(rank.id(), 0, Data::size(0)).await;
            rank.recv(rank.id(), 0, 0).await;
        }
    });
    says(&error, &["never lets time advance"]);
}

#[test]
fn a_rank_that_does_not_exist_is_named_with_the_call_before() {
    let error = failure(2, &target(), |rank| async move {
        rank.send(2, 0, Data::size(0)).await;
    });
    says(&error, &["rank 0", "there is no rank 2", "2 ranks"]);
}

#[test]
fn what_is_not_of_the_simulation_is_refused() {
    let error = failure(1, &target(), |_| std::future::pending());
    assert!(error.contains("outside of the simulation"), "{error}");
}
