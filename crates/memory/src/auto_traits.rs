//! Compile-time checks of which types with pointers and guards are `Send` or `Sync`. A type that
//! would allow too much does not compile.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::MutexGuard;

use crate::alloc::Pages;
use crate::events::Arena;
use crate::payload::{PrivateBlock, PrivateList};
use crate::{
    Apart, Buffers, CasConsumer, CasProducer, Common, Consumer, Drain, DropEach, Image, IsPortable,
    Lines, Member, Payload, Pool, Producer, Region, Registers, Room, SpinGuard, SpinLock,
};

/// `Send`, but not `Sync`.
type Moves = Cell<u8>;
/// `Sync`, but not `Send`.
type Stays = MutexGuard<'static, u8>;
/// Neither.
type Alone = Rc<u8>;

/// Does not compile if a type has the trait: both functions then apply, and the compiler cannot
/// choose.
macro_rules! never {
    ($trait:ident: $($of:ty),+ $(,)?) => {
        $(const _: fn() = || {
            trait Ambiguous<A> {
                fn chosen() {}
            }
            impl<T: ?Sized> Ambiguous<()> for T {}
            struct HasTrait;
            impl<T: ?Sized + $trait> Ambiguous<HasTrait> for T {}
            let _ = <$of as Ambiguous<_>>::chosen;
        };)+
    };
}

macro_rules! always {
    ($trait:ident: $($of:ty),+ $(,)?) => {
        $(const _: fn() = || {
            fn has<T: ?Sized + $trait>() {}
            has::<$of>();
        };)+
    };
}

// Guards and locks: a lock passes its value from thread to thread, and a guard stands for an
// exclusive reference.
never!(Sync: SpinGuard<'static, Moves>, SpinGuard<'static, Alone>, SpinLock<Stays>, SpinLock<Alone>);
never!(Send: SpinGuard<'static, Stays>, SpinGuard<'static, Alone>, SpinLock<Stays>, SpinLock<Alone>);
always!(Sync: SpinGuard<'static, u8>, SpinLock<Moves>);
always!(Send: SpinGuard<'static, Moves>, SpinLock<Moves>);

// A thread takes part for itself.
never!(Send: Member);

// What PEs share.
never!(Sync: Common<Moves>, Common<Stays>, Common<Alone>, Common<[Moves]>);
never!(Send: Common<Moves>, Common<Stays>, Common<Alone>, Common<[Moves]>);
always!(Sync: Common<u8>, Region, Lines);
always!(Send: Common<u8>, Region, Lines);

// Queues, which move values.
never!(Sync: Producer<Stays>, Consumer<Stays>, Drain<'static, Stays>, CasProducer<Stays>, CasConsumer<Stays>);
never!(Send: Producer<Stays>, Consumer<Stays>, Drain<'static, Stays>, CasProducer<Stays>, CasConsumer<Stays>);
never!(Send: Producer<Alone>, Consumer<Alone>, Drain<'static, Alone>, CasProducer<Alone>, CasConsumer<Alone>);
always!(Send: Producer<Moves>, Consumer<Moves>, Drain<'static, Moves>, CasProducer<Moves>, CasConsumer<Moves>);

// Buffers, whose views give shared references to values that need only be `Send`.
never!(Sync: Buffers<u8>, Buffers<Moves>, Arena<u8>, Arena<Moves>, Arena<Alone>);
never!(Send: Buffers<Stays>, Buffers<Alone>, Arena<Stays>, Arena<Alone>);
always!(Send: Buffers<Moves>, Arena<Moves>);

// Values by themselves.
never!(Sync: Pool<Moves>, DropEach<Moves>, Apart<Moves>, Registers<&'static Moves>);
never!(Send: Pool<Alone>, DropEach<Alone>, Apart<Alone>, Registers<&'static Moves>);
always!(Sync: Image<Alone>, IsPortable<Alone>, Payload);
always!(Send: Image<Alone>, IsPortable<Alone>, Payload);

// Plain memory, which passes between threads behind locks. Its users argue for themselves.
never!(Sync: Pages, PrivateList, PrivateBlock, Room<'static>);
never!(Send: PrivateBlock, Room<'static>);
always!(Send: Pages, PrivateList);
