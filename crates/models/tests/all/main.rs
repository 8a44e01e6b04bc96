//! All tests of the models, in one program, which builds faster than several.

mod abilities;
mod estimates;
mod hypercube;
mod mm1;
mod network_demands;
mod network_run;
mod network_star_clique;
mod network_support;
mod network_topology;
mod network_truth;
mod one_answer;
mod pcs;
mod phold;
mod processes;
mod replay;
mod simplesim;
mod studies;
