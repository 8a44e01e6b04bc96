//! How large a network may be.

/// The most routes, one for each pair of node and destination: 2 GiB of them.
const MOST_ROUTES: u64 = 1 << 28;

/// Whether routes from this many nodes to this many destinations fit.
pub(super) const fn routes_fit(nodes: u64, destinations: u64) -> bool {
    nodes.saturating_mul(destinations) <= MOST_ROUTES
}

/// Refuses routing tables that are too large.
pub(super) fn check_routes(nodes: u64, destinations: u64) -> Result<(), String> {
    if !routes_fit(nodes, destinations) {
        let routes = nodes.saturating_mul(destinations);
        return Err(format!(
            "{nodes} nodes and {destinations} destinations need {routes} routes, more than the most possible ({MOST_ROUTES}); \
             use fewer nodes, or `demand=file` with fewer destinations"
        ));
    }
    Ok(())
}

/// Refuses networks with too many pairs of nodes for LPs or routes, before the pairs are listed.
pub(super) fn check_pairs(nodes: u64, links: u64) -> Result<(), String> {
    let lps = nodes.saturating_mul(nodes - 1).saturating_add(links);
    if lps > u64::from(u32::MAX) {
        return Err(format!(
            "{nodes} nodes with a demand between every pair and {links} links need {lps} LPs, more than the most possible ({}); \
             use fewer nodes, or `demand=file` with fewer demands",
            u32::MAX
        ));
    }
    check_routes(nodes, nodes)
}
