//! Memory from the system, and what there is to say when it gives no more.

mod allocator;
mod exhausted;
pub(crate) mod files;
mod make_room;
mod mapping;
mod pages;
mod reserve;

pub use self::allocator::Allocator;
pub use self::exhausted::Exhausted;
pub use self::make_room::{MakeRoom, check_room, list_for, list_of};
pub(crate) use self::pages::Pages;
pub use self::pages::prefer_huge_pages;
pub use self::reserve::{keep_reserve, release_reserve};
