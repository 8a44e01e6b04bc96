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

/// What help texts say about scenario files.
pub(crate) const SCENARIO: &str = "A scenario is a TOML file with the same names: `model`, then any settings (end, seed, …), \
     then a table [parameters].\n\
     What is typed after it overrides it. If an engine is typed, settings that it does not use are \
     left out. Paths in it are relative to the current directory.";

/// What `verify` does.
pub(crate) const VERIFICATION: &str = "Events are drawn from the whole run, of every kind: by the variant of the event, and by the \
     kind of the LP.\n\
     Handlers must not print or write: that is found on Linux, but not what goes through sockets \
     or other programs.\n\
     What is compared of a state is its Debug text; what that leaves out is not compared.\n\
     A scenario file gives model, seed and parameters; its other settings are those of a run.";

/// What `torture` does.
pub(crate) const SEARCH: &str = "All PEs are in one thread, in an order drawn from a seed; messages are late and overtake each \
     other, PEs stand still, and rings are full. Some runs are on modelled machines.\n\
     Each schedule is compared with the sequential run: history, states, statistics, results and \
     rows. Settings that are given stay as they are; others are drawn.\n\
     What fails is made smaller, and printed as one command that repeats it exactly.\n\
     It finds handlers and reverse code that go wrong only in parallel, and mistakes of the \
     engine. It cannot find data races between threads.";

/// What `compare` does.
pub(crate) const COMPARISON: &str = "The sequential engine comes first, as the others are compared with it. Each run is a process \
     of its own; rates and memory are medians over the runs of an engine. The answer is history, \
     results, statistics, and final states by their Debug text.\n\
     An engine that fails is shown with its error, and the others are compared.\n\
     A scenario file works as for `run`; a report that it wants is left out.";
