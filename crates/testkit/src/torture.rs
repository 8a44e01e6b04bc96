//! Thousands of short schedules: small random models on virtual clusters, compared with the
//! sequential engine, which the [matrix](mod@crate::matrix) compares with the reference.

use warpline::Pending;
use warpline::base::LpId;
use warpline::base::random::Random;

use crate::matrix::{Configuration, Parallel, SEQUENTIAL, caught, compare, run};
use crate::random_model::{Inline, Mistake, Owned, PlannedFault};
use crate::{RandomModel, Recipe, Settings, time_limit};

/// A small model with several ways to run it, all drawn from a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The model.
    pub recipe: Recipe,
    /// How it is run.
    pub settings: Settings,
    /// The settings that must not change the answer.
    pub configurations: Vec<Configuration>,
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// Parallel runs.
    pub schedules: u64,
    /// Events of the answer.
    pub committed: u64,
    /// Runs whose answer is a mistake of the model.
    pub mistakes: u64,
}

/// The stream from which cases are drawn, apart from those of recipes.
const CASES: u8 = 3;
/// About the most events that the starters of a case lead to.
const ENERGY: u32 = 300;
/// How many PEs a cluster usually has. Clusters with more take longer, and are rare.
const PES: [u32; 12] = [1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7, 8];

impl Case {
    /// The case of a seed, with `clusters` virtual clusters and, for one seed in sixteen, threads.
    /// About one model in three makes a mistake sooner or later, and some of these make several.
    pub fn from_seed(seed: u64, clusters: usize) -> Self {
        let random = &mut Random::new(seed, LpId(0), CASES);
        let recipe = Recipe::from_seed(random.next_u64());
        let many = random.below(40) == 0;
        let most = if many { 80 } else { [4, 10, 40][random.below(3) as usize] };
        let lps = if many { 16 } else { 1 } + random.below(most);
        let energy = (ENERGY / (lps * recipe.starters)).clamp(2, recipe.energy.max(2));
        let fault = random.bernoulli(0.25).then(|| PlannedFault {
            mistake: Mistake::ALL[random.below(Mistake::ALL.len() as u32) as usize],
            lp: random.below(lps),
            event: 1 + u64::from(random.below(8)),
        });
        let several = &mut Random::new(seed, LpId(1), CASES);
        let widespread = several.bernoulli(0.3);
        let fails_at_commit = several.bernoulli(0.1).then(|| 1 + several.below(6));
        let recipe = Recipe {
            lps,
            energy,
            burst: recipe.burst.min(20),
            fault,
            widespread,
            fails_at_commit,
            ..recipe
        };
        let end = [1e9, 1e9, 6.0, 1.5][random.below(4) as usize];
        let warmup = if random.bernoulli(0.2) { 0.1 * end } else { 0.0 };
        let settings =
            Settings { warmup, zero_delay_hops: 200, ..Settings::new(random.next_u64(), end) };
        let mut configurations = Vec::new();
        for number in 0..clusters {
            let pes = if many && number == 0 {
                [16, 32, 64][random.below(3) as usize]
            } else {
                PES[random.below(PES.len() as u32) as usize]
            };
            let parallel = Parallel { pes, ..Parallel::cluster(random) };
            let gvt_interval =
                if pes > 8 { parallel.gvt_interval.max(100) } else { parallel.gvt_interval };
            configurations.push(Parallel { gvt_interval, ..parallel });
        }
        if seed.is_multiple_of(16) {
            configurations
                .push(Parallel { pes: 1 + random.below(3), ..Parallel::cluster(random) }.threads());
        }
        let pending = if random.bernoulli(0.5) { Pending::Heap } else { Pending::Ladder };
        let configurations = configurations
            .into_iter()
            .map(|parallel| Configuration { pending, parallel: Some(parallel), changes: None })
            .collect();
        Case { recipe, settings, configurations }
    }

    /// Compares all runs with the sequential one: digest, events, states, results and rows, or the
    /// mistake.
    ///
    /// # Errors
    /// The first difference, with everything needed to reproduce it.
    pub fn check(&self) -> Result<Summary, String> {
        match self.recipe.words() {
            0 => self.check_model(|| RandomModel::<0>::new(&self.recipe)),
            1 => self.check_model(|| RandomModel::<1, Inline>::new(&self.recipe)),
            _ => self.check_model(|| RandomModel::<13>::new(&self.recipe)),
        }
    }

    fn check_model<const WORDS: usize, O: Owned>(
        &self,
        make: impl Fn() -> RandomModel<WORDS, O>,
    ) -> Result<Summary, String> {
        let Case { recipe, settings, configurations } = self;
        let describe = |what: &str, configuration: &Configuration| {
            format!(
                "{what}\n  configuration = {configuration:?}\n  settings = {settings:?}\n  \
                 recipe = {recipe:?}"
            )
        };
        let limit = time_limit((SEQUENTIAL[0], *settings, recipe.clone()));
        let expected = run(make(), settings, SEQUENTIAL[0])
            .map_err(|why| describe(&why.to_string(), &SEQUENTIAL[0]))?;
        drop(limit);
        for configuration in configurations {
            let _limit = time_limit((*configuration, *settings, recipe.clone()));
            let found = caught(|| run(make(), settings, *configuration));
            let found = found.and_then(|found| found.map_err(|why| why.to_string()));
            found
                .and_then(|found| compare(&expected, &found))
                .map_err(|why| describe(&why, configuration))?;
        }
        let schedules = configurations.len() as u64;
        Ok(match expected {
            Ok(outcome) => Summary { schedules, committed: outcome.committed, mistakes: 0 },
            Err(stop) => Summary { schedules, committed: stop.committed, mistakes: schedules },
        })
    }
}
