//! A plugin with its table: what the component exports, and what native tests drive.

use super::{
    Binding, Candidates, Cluster, ClusterId, Description, Error, Explanation, SchedulerPlugin, Table,
};
use crate::bindings::scheduler::exports::windlass::scheduler::plugin::Guest;
use serde_json::Value;
use std::{collections::BTreeMap, marker::PhantomData};

/// A configured plugin and the clusters that it was told of.
pub struct Instance<P: SchedulerPlugin> {
    plugin: P,
    table: Table<P::Cluster>,
}

impl<P: SchedulerPlugin> Instance<P> {
    /// Configures the plugin; `config` is JSON text.
    ///
    /// # Errors
    /// When the text is no JSON, or the plugin refuses it.
    pub fn new(config: &str) -> Result<Self, Error> {
        let config: Value =
            serde_json::from_str(config).map_err(|why| format!("configuration is no JSON: {why}"))?;
        Ok(Self { plugin: P::new(&config)?, table: Table::default() })
    }

    /// The plugin itself.
    pub fn plugin(&self) -> &P {
        &self.plugin
    }

    /// Brings the table to a generation.
    ///
    /// # Errors
    /// When the table can't take the clusters.
    pub fn sync(
        &mut self,
        generation: u64,
        upserts: Vec<Cluster>,
        removes: &[ClusterId],
    ) -> Result<(), Error> {
        self.table.sync(generation, upserts, removes)
    }

    /// One bit per candidate: does it pass?
    ///
    /// # Errors
    /// `stale`, or what the plugin says of the binding.
    pub fn filter(
        &self,
        generation: u64,
        binding: Binding,
        candidates: &Candidates,
    ) -> Result<Vec<u64>, Error> {
        let prepared = self.prepare(generation, binding)?;
        let mut words = Vec::with_capacity(self.count(candidates).div_ceil(64));
        let (mut word, mut bit) = (0u64, 0u32);
        self.each(candidates, |_, cluster| {
            let passes = cluster.is_some_and(|cluster| self.plugin.passes(&prepared, cluster).is_ok());
            word |= u64::from(passes) << bit;
            bit += 1;
            if bit == 64 {
                words.push(word);
                (word, bit) = (0, 0);
            }
        });
        if bit > 0 {
            words.push(word);
        }
        Ok(words)
    }

    /// One score per candidate.
    ///
    /// # Errors
    /// `stale`, or what the plugin says of the binding.
    pub fn score(
        &self,
        generation: u64,
        binding: Binding,
        candidates: &Candidates,
    ) -> Result<Vec<i64>, Error> {
        let prepared = self.prepare(generation, binding)?;
        let mut scores = Vec::with_capacity(self.count(candidates));
        self.each(candidates, |_, cluster| {
            scores.push(cluster.map_or(0, |cluster| self.plugin.score(&prepared, cluster)));
        });
        Ok(scores)
    }

    /// The reasons against the candidates that don't pass, each text once.
    ///
    /// # Errors
    /// `stale`, or what the plugin says of the binding.
    pub fn explain(
        &self,
        generation: u64,
        binding: Binding,
        candidates: &Candidates,
    ) -> Result<Explanation, Error> {
        let prepared = self.prepare(generation, binding)?;
        let mut explanation = Explanation { reasons: Vec::new(), refused: Vec::new() };
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        self.each(candidates, |id, cluster| {
            let Some(Err(reason)) = cluster.map(|cluster| self.plugin.passes(&prepared, cluster)) else {
                return;
            };
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let index = *known.entry(reason.to_string()).or_insert_with_key(|text| {
                explanation.reasons.push(text.clone());
                next
            });
            explanation.refused.push((id, index));
        });
        Ok(explanation)
    }

    /// Rescales scores.
    pub fn normalize(&self, mut scores: Vec<i64>) -> Vec<i64> {
        self.plugin.normalize(&mut scores);
        scores
    }

    fn prepare(&self, generation: u64, binding: Binding) -> Result<P::Prepared, Error> {
        if generation != self.table.generation() {
            return Err(Error::Stale);
        }
        self.plugin.prepare(binding)
    }

    fn count(&self, candidates: &Candidates) -> usize {
        match candidates {
            Candidates::All => self.table.len(),
            Candidates::These(ids) => ids.len(),
        }
    }

    fn each<'a>(&'a self, candidates: &Candidates, mut visit: impl FnMut(ClusterId, Option<&'a P::Cluster>)) {
        match candidates {
            Candidates::All => (0..).zip(self.table.slots()).for_each(|(id, cluster)| visit(id, cluster)),
            Candidates::These(ids) => ids.iter().for_each(|id| visit(*id, self.table.get(*id))),
        }
    }
}

/// Where a component keeps its one instance; implemented by [`export_scheduler!`](crate::export_scheduler).
pub trait Slot: SchedulerPlugin {
    /// Works with the instance; `None` before `init`.
    fn slot<R>(then: impl FnOnce(&mut Option<Instance<Self>>) -> R) -> R;
}

/// The exported functions, for a plugin that has a [`Slot`].
pub struct Exported<P>(PhantomData<P>);

impl<P: Slot> Exported<P> {
    fn with<R>(then: impl FnOnce(&mut Instance<P>) -> Result<R, Error>) -> Result<R, Error> {
        P::slot(|slot| match slot {
            Some(instance) => then(instance),
            None => Err(Error::Internal("`init` was not called".to_owned())),
        })
    }
}

impl<P: Slot> Guest for Exported<P> {
    fn describe() -> Description {
        P::describe()
    }

    fn init(config: String) -> Result<(), Error> {
        let instance = Instance::new(&config)?;
        P::slot(|slot| *slot = Some(instance));
        Ok(())
    }

    fn sync(generation: u64, upserts: Vec<Cluster>, removes: Vec<ClusterId>) -> Result<(), Error> {
        Self::with(|instance| instance.sync(generation, upserts, &removes))
    }

    fn filter(generation: u64, binding: Binding, candidates: Candidates) -> Result<Vec<u64>, Error> {
        Self::with(|instance| instance.filter(generation, binding, &candidates))
    }

    fn score(generation: u64, binding: Binding, candidates: Candidates) -> Result<Vec<i64>, Error> {
        Self::with(|instance| instance.score(generation, binding, &candidates))
    }

    fn normalize(scores: Vec<i64>) -> Result<Vec<i64>, Error> {
        Self::with(|instance| Ok(instance.normalize(scores)))
    }

    fn explain(generation: u64, binding: Binding, candidates: Candidates) -> Result<Explanation, Error> {
        Self::with(|instance| instance.explain(generation, binding, &candidates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{BindingFields, ClusterFields, Reason};

    struct Named(String);

    impl SchedulerPlugin for Named {
        type Cluster = Cluster;
        type Prepared = Binding;
        fn describe() -> Description {
            Description::filter("Named", "0", ClusterFields::empty(), BindingFields::empty())
        }
        fn new(config: &Value) -> Result<Self, Error> {
            Ok(Self(config["name"].as_str().ok_or("no name")?.to_owned()))
        }
        fn prepare(&self, binding: Binding) -> Result<Binding, Error> {
            if binding.replicas < 0 { Err("negative".into()) } else { Ok(binding) }
        }
        fn passes<'a>(&'a self, _: &'a Binding, cluster: &'a Cluster) -> Result<(), Reason<'a>> {
            if cluster.name == self.0 { Ok(()) } else { Err(Reason::with("not ", &self.0, "")) }
        }
        fn score(&self, _: &Binding, cluster: &Cluster) -> i64 {
            i64::from(cluster.id)
        }
        fn normalize(&self, scores: &mut [i64]) {
            scores.iter_mut().for_each(|score| *score = 100 - *score);
        }
    }

    crate::export_scheduler!(Named);

    fn cluster(id: u32, name: &str) -> Cluster {
        Cluster { id, name: name.to_owned(), ..Default::default() }
    }

    #[test]
    fn answers_are_indexed_as_the_interface_says() {
        let mut instance = Instance::<Named>::new(r#"{"name": "a"}"#).unwrap();
        assert_eq!(instance.filter(7, Binding::default(), &Candidates::All), Err(Error::Stale));
        let clusters = (0..70).map(|id| cluster(id, if id % 69 == 0 { "a" } else { "b" })).collect();
        instance.sync(7, clusters, &[]).unwrap();
        let all = instance.filter(7, Binding::default(), &Candidates::All).unwrap();
        assert_eq!(all, [1, 1 << 5]);
        let these = Candidates::These(vec![1, 69, 900]);
        assert_eq!(instance.filter(7, Binding::default(), &these).unwrap(), [0b010]);
        assert_eq!(instance.score(7, Binding::default(), &these).unwrap(), [1, 69, 0]);
        let explained = instance.explain(7, Binding::default(), &these).unwrap();
        assert_eq!((explained.reasons, explained.refused), (vec!["not a".to_owned()], vec![(1, 0)]));

        instance.sync(8, vec![cluster(1, "a")], &(2..70).collect::<Vec<_>>()).unwrap();
        assert_eq!(instance.filter(8, Binding::default(), &Candidates::All).unwrap(), [0b11]);
        assert_eq!(instance.normalize(vec![0, 30]), [100, 70]);
        let bad = Binding { replicas: -1, ..Default::default() };
        assert_eq!(instance.score(8, bad, &Candidates::All), Err(Error::Invalid("negative".to_owned())));
    }

    #[test]
    fn the_exported_functions_need_init() {
        let call = || Exported::<Named>::filter(0, Binding::default(), Candidates::All);
        assert!(matches!(call(), Err(Error::Internal(_))));
        assert!(Exported::<Named>::init("{".to_owned()).is_err());
        Exported::<Named>::init(r#"{"name": "a"}"#.to_owned()).unwrap();
        assert_eq!(call(), Ok(vec![]));
        assert_eq!(Exported::<Named>::describe().name, "Named");
    }
}
