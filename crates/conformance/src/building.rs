use crate::answers::search_with;
use crate::data::Data;
use crate::searching::{Subject, well_formed};
use annbench_core::{BuildSpec, ElementType, Metric, Mode, SearchSpec};
use std::path::Path;

const K: usize = 10;

impl Subject<'_> {
    /// Two builds with one thread answer alike where the descriptor says so.
    pub(crate) fn builds_repeatably(&self) {
        if !self.descriptor.deterministic_build {
            return;
        }
        let again = self
            .adapter
            .build(self.data.base(), self.build)
            .unwrap_or_else(|e| panic!("second build: {e}"));
        for params in self.example_searches() {
            let spec = SearchSpec::new(K, params);
            assert_eq!(
                search_with(self.index, &spec, self.data.queries()),
                search_with(again.as_ref(), &spec, self.data.queries()),
                "deterministic_build is declared, but two builds with one thread differ"
            );
        }
    }

    /// A build with more threads finds as much.
    pub(crate) fn builds_with_threads(&self) {
        let mut spec = self.build.clone();
        spec.threads = 3;
        let index = self
            .adapter
            .build(self.data.base(), &spec)
            .unwrap_or_else(|e| panic!("build with three threads: {e}"));
        let parallel = Subject {
            index: index.as_ref(),
            build: &spec,
            ..*self
        };
        parallel.finds_what_is_near();
    }

    /// What was saved, loads and answers alike; what was not saved, is an error. `dir` is empty.
    pub(crate) fn saves_and_loads(&self, dir: &Path) {
        let empty = dir.join("empty");
        let saved = dir.join("saved");
        for d in [&empty, &saved] {
            std::fs::create_dir_all(d).unwrap_or_else(|e| panic!("{}: {e}", d.display()));
        }
        let base = self.data.base();
        if !self.descriptor.saves {
            assert!(
                self.index.save(&saved).is_err(),
                "saves is not declared, but save succeeds"
            );
            return;
        }
        assert!(
            self.adapter.load(&empty, base, self.build).is_err(),
            "loading from an empty directory must be an error"
        );
        assert!(
            self.index.save(&dir.join("missing").join("deep")).is_err(),
            "saving into a directory that does not exist must be an error"
        );
        self.index
            .save(&saved)
            .unwrap_or_else(|e| panic!("save: {e}"));
        let loaded = self
            .adapter
            .load(&saved, base, self.build)
            .unwrap_or_else(|e| panic!("load: {e}"));
        for params in self.example_searches() {
            let spec = SearchSpec::new(K, params);
            assert_eq!(
                search_with(self.index, &spec, self.data.queries()),
                search_with(loaded.as_ref(), &spec, self.data.queries()),
                "a loaded index answers otherwise than the one saved"
            );
        }
    }

    fn example_searches(&self) -> impl Iterator<Item = annbench_core::Params> + '_ {
        std::iter::once(self.example.thorough.clone()).chain(self.example.hasty.clone())
    }

    /// Five rows, k = 10: right answers or a typed error, at whichever step.
    pub(crate) fn handles_fewer_rows_than_k(&self, metric: Metric, element: ElementType) {
        let data = Data::clustered(metric, element, 5, 3);
        let base = data.base();
        let spec = BuildSpec::new(metric, element, 5, base.dim(), self.build.params.clone());
        let Ok(index) = self.adapter.build(base, &spec) else {
            return;
        };
        let search = SearchSpec::new(K, self.example.thorough.clone());
        let Ok(mut searcher) = index.searcher(&search) else {
            return;
        };
        if let Ok(answers) = crate::answers::search_each(searcher.as_mut(), data.queries(), K) {
            well_formed(&answers, 5);
        }
        if self.descriptor.modes.contains(&Mode::Batch) {
            let mut batch = search.clone();
            batch.mode = Mode::Batch;
            if let Ok(mut searcher) = index.searcher(&batch)
                && let Ok(answers) =
                    crate::answers::search_batch(searcher.as_mut(), data.queries(), K)
            {
                well_formed(&answers, 5);
            }
        }
    }

    /// A base that is not what the spec says is an error, not a crash.
    pub(crate) fn refuses_another_base(&self) {
        let mut spec = self.build.clone();
        spec.dim += 1;
        assert!(
            self.adapter.build(self.data.base(), &spec).is_err(),
            "a base of {} components under a spec of {} must be an error",
            self.data.base().dim(),
            spec.dim
        );
    }
}
