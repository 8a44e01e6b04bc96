//! The longer texts of the help.

/// The figures and fields of `explain`.
pub(crate) const EXPLANATION: &str = "An event begins when its LP has executed the one before it, \
                                      and when the event that sent it has been executed. The \
                                      longest\n\
                                      chain of events that wait for each other in this way is the \
                                      critical path: no engine is done before its end. Speed-ups \
                                      are\n\
                                      bounds, or those of ideal engines, in which nothing but the \
                                      events themselves takes time. Beside them stands what is \
                                      left\n\
                                      of them at the costs of events and messages on this machine, \
                                      if the model goes on for long enough to measure those in \
                                      short\n\
                                      runs; `compare` measures whole ones.\n\
                                      A scenario file gives model, end, seed and parameters; its \
                                      other settings are those of a run.\n\n\
                                      Fields of the JSON object, with work and lengths in events \
                                      or, measured, in nanoseconds (cost_unit):\n\
                                      \x20 path        length, events, messages (events that \
                                      waited for a message and not for their LP), lps (most work \
                                      on it first)\n\
                                      \x20 parallelism work / path.length\n\
                                      \x20 slices      of the run: from, to (model time), work, \
                                      path (what it adds to the path), parallelism (null: it adds \
                                      nothing)\n\
                                      \x20 cores       for 2, 8, 64, 1000 cores, the speed-up of \
                                      any_engine and of these_blocks (bounds), in_order (PEs that \
                                      execute\n\
                                      \x20             events in the order of time), declared and \
                                      seen (conservative windows as long as the declared lookahead \
                                      and\n\
                                      \x20             as the least delay seen between PEs: \
                                      declared_delay, seen_delay), messages between PEs, \
                                      with_costs (what is\n\
                                      \x20             left at these costs of declared, or of \
                                      in_order if engines do not wait), the busiest_pe, and\n\
                                      \x20             divided_groups, where boundaries between \
                                      PEs divide groups of LPs: how many do; the first pe, its \
                                      first lp, and\n\
                                      \x20             the group\n\
                                      \x20 costs       in seconds on a core: \
                                      sequential_event_seconds, event_seconds on one of 2 PEs of \
                                      the engine sync, and\n\
                                      \x20             message_seconds from PE to PE (null: not \
                                      measured, or too few)\n\
                                      \x20 load        lps (how many have work), busiest (most \
                                      work first), busiest_tenth (the share of a tenth of the \
                                      LPs)\n\
                                      \x20 delays      of sends from LP to LP, the least of each \
                                      sender: from, to, declared, seen (least first)\n\
                                      \x20 advice      what stands in the way, the gravest first";
