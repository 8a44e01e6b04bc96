//! Boost.Interprocess as a carrier of messages, to compare our own carriers with. It is no part of
//! the engine, but plugged in by the feature `boost`.

use warpline_transport::PluggedCarriers;

#[cfg(feature = "boost")]
const BOOST: Option<&dyn PluggedCarriers> = Some(&warpline_boost::BoostCarriers);
#[cfg(not(feature = "boost"))]
const BOOST: Option<&dyn PluggedCarriers> = None;

/// Whether this was built with the feature `boost`, so that Boost.Interprocess can carry messages
/// between processes.
pub const HAS_BOOST: bool = BOOST.is_some();

/// Carriers through Boost.Interprocess.
///
/// # Panics
/// In a program without it, which refuses the setting.
pub(crate) fn boost_carriers() -> &'static dyn PluggedCarriers {
    BOOST.expect("a program without Boost refuses to use it")
}
