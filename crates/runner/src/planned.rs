use crate::subject::{GivenVectors, SubjectFacts};
use annbench_config::{Job, JobPoint, Measure};
use annbench_core::{BuildSpec, ElementType, PointSpec, SearchSpec};
use annbench_results::{
    AdapterInfo, BaseResidence, BuildIdentity, IdentityError, Machine, PointIdentity, build_key,
    point_id,
};

/// A job with everything that defines its records.
#[derive(Clone, Debug)]
pub struct PlannedJob {
    /// Group of the sweep that named the build first.
    pub group: String,
    /// Library name and version, as on plots.
    pub library: String,
    /// Identity of the build.
    pub identity: BuildIdentity,
    /// Its hash.
    pub build_key: String,
    /// The build.
    pub spec: BuildSpec,
    /// The vectors it is given, or why it cannot be given any.
    pub given: Result<GivenVectors, String>,
    /// Its searches.
    pub points: Vec<PlannedPoint>,
}

/// One search of a planned job.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// Group of the sweep.
    pub group: String,
    /// Identity of the point.
    pub identity: PointIdentity,
    /// Its hash.
    pub point_id: String,
    /// The search.
    pub spec: SearchSpec,
    /// Why the sweep refuses it.
    pub refused: Option<String>,
}

impl PlannedPoint {
    /// Parameters, k, mode and threads in one line.
    pub fn label(&self) -> String {
        let spec = &self.spec;
        let mut label = format!("k={} {} threads={}", spec.k, spec.mode, spec.threads);
        if !spec.params.0.is_empty() {
            label = format!("{} {label}", spec.params);
        }
        label
    }
}

impl PlannedJob {
    /// Gives a job of a sweep its identities.
    ///
    /// # Errors
    /// [`IdentityError`] for a parameter that is no finite number.
    pub fn new(
        job: &Job,
        measure: &Measure,
        subject: &SubjectFacts,
        adapter: &AdapterInfo,
        machine: &Machine,
    ) -> Result<Self, IdentityError> {
        let given = choose_given(subject, adapter);
        let element = given
            .as_ref()
            .map_or(subject.info.element, |given| given.element);
        let mut spec = BuildSpec::new(
            subject.info.metric,
            element,
            subject.info.n as usize,
            subject.info.dim as usize,
            job.build.clone(),
        );
        spec.threads = measure.build_threads;
        spec.seed = measure.seed;
        let descriptor = &adapter.descriptor;
        let identity = BuildIdentity {
            base_fingerprint: subject.info.base_fingerprint.clone(),
            metric: spec.metric,
            element_given: element,
            adapter: descriptor.adapter.clone(),
            executable_sha256: adapter.executable_sha256.clone(),
            library_version: descriptor.library_version.clone(),
            build_params: job.build.clone(),
            build_threads: measure.build_threads as u64,
            seed: measure.seed,
            base_residence: if measure.base_mapped {
                BaseResidence::Mapped
            } else {
                BaseResidence::Copied
            },
            machine: machine.clone(),
        };
        let points = job
            .points
            .iter()
            .map(|point| plan_point(point, measure, subject, &identity))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            group: job.group.clone(),
            library: format!("{} {}", descriptor.library, descriptor.library_version),
            build_key: build_key(&identity)?,
            identity,
            spec,
            given,
            points,
        })
    }

    /// Adapter and build parameters in one line.
    pub fn label(&self) -> String {
        format!("{} {}", self.identity.adapter, self.spec.params)
            .trim_end()
            .to_owned()
    }

    /// The whole point, as an adapter judges it.
    pub fn point_spec(&self, point: &PlannedPoint) -> PointSpec {
        PointSpec {
            build: self.spec.clone(),
            search: point.spec.clone(),
        }
    }
}

fn plan_point(
    point: &JobPoint,
    measure: &Measure,
    subject: &SubjectFacts,
    build: &BuildIdentity,
) -> Result<PlannedPoint, IdentityError> {
    let mut spec = SearchSpec::new(point.k, point.search.clone());
    spec.mode = point.mode;
    spec.threads = point.threads;
    let identity = PointIdentity {
        build: build.clone(),
        queries_fingerprint: subject.info.queries_fingerprint.clone(),
        search_params: point.search.clone(),
        k: point.k as u64,
        mode: point.mode,
        threads: point.threads as u64,
        repetitions: measure.repetitions as u64,
        min_pass_ns: measure.min_pass_ns,
        warm_up_ns: measure.warm_up_ns,
    };
    Ok(PlannedPoint {
        group: point.group.clone(),
        point_id: point_id(&identity)?,
        identity,
        spec,
        refused: point
            .refused
            .clone()
            .or_else(|| narrow_truth(point.k, subject)),
    })
}

fn narrow_truth(k: usize, subject: &SubjectFacts) -> Option<String> {
    let width = subject.truth.width;
    (k as u64 > width).then(|| {
        format!(
            "the truth of {} has {width} neighbours per query, k = {k} needs {k}: ask for a smaller \
             k, or leave `truth` out of a copy of the dataset's entry to have it computed",
            subject.info.name
        )
    })
}

/// The dataset's own element type where the library takes it, else a lossless widening.
fn choose_given(subject: &SubjectFacts, adapter: &AdapterInfo) -> Result<GivenVectors, String> {
    let descriptor = &adapter.descriptor;
    let metric = subject.info.metric;
    let takes = |element: ElementType| {
        descriptor
            .supports
            .iter()
            .any(|s| s.metric == metric && s.element == element)
    };
    subject
        .given
        .iter()
        .find(|given| takes(given.element))
        .cloned()
        .ok_or_else(|| {
            let known: Vec<String> = descriptor
                .supports
                .iter()
                .map(|s| format!("{} on {}", s.metric, s.element))
                .collect();
            format!(
                "{} {} does not take {metric} on {} vectors; it takes {}",
                descriptor.library,
                descriptor.library_version,
                subject.info.element,
                known.join(", ")
            )
        })
}
