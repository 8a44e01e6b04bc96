use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;

/// A copy of a value's bytes, which nobody reads. It shows what it costs an engine to keep a copy
/// of everything that it has sent.
///
/// ```
/// let text = String::from("hello");
/// let image = warpline_memory::Image::of(&text);
/// drop(text); // the image owns nothing
/// assert_eq!(size_of_val(&image), size_of::<String>());
/// ```
pub struct Image<T>(MaybeUninit<T>);

// SAFETY: there is no way to the value, or to anything that it refers to.
unsafe impl<T> Send for Image<T> {}
// SAFETY: likewise.
unsafe impl<T> Sync for Image<T> {}

impl<T> Image<T> {
    /// A copy of a value's bytes.
    #[inline]
    pub fn of(value: &T) -> Self {
        let mut image = MaybeUninit::uninit();
        // SAFETY: both places are those of a `T`, the second one new. Bytes that are no value of
        // their own may lie in a `MaybeUninit`.
        unsafe { ptr::copy_nonoverlapping(value, image.as_mut_ptr(), 1) };
        Image(image)
    }
}

impl<T> fmt::Debug for Image<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("bytes", &size_of_val(&self.0)).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn an_image_owns_nothing_and_may_go_anywhere() {
        let value = Rc::new(Cell::new(7));
        let images: Vec<Image<(u8, Rc<Cell<i32>>)>> =
            (0..3).map(|byte| Image::of(&(byte, value.clone()))).collect();
        assert_eq!(
            (Rc::strong_count(&value), format!("{:?}", images[0])),
            (1, "Image { bytes: 16 }".to_owned())
        );
        std::thread::spawn(move || drop(images)).join().unwrap();
        value.set(8);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}
