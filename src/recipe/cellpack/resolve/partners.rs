//! Partners: from any of their three forms to entries and probabilities.

use glam::Vec3;

use super::super::object::{ObjectFile, PartnerColumns, PartnerFile, PartnersFile};
use super::{RawItem, Resolver, join};
use crate::recipe::RecipeError;
use crate::recipe::model::{Entry, Partner};

impl Resolver<'_> {
    /// The partners of an item, whose object is `object`.
    pub(super) fn partners(
        &self,
        object: &ObjectFile,
        raw: &RawItem<'_>,
    ) -> Result<Vec<Partner>, RecipeError> {
        let place = join(&raw.place, "partners");
        let columns = match &object.partners {
            None => return Ok(Vec::new()),
            Some(PartnersFile::List(list)) => return self.listed(list, &place),
            Some(PartnersFile::Columns(columns)) => columns,
        };
        let mut partners = match &columns.all_partners {
            Some(list) => self.listed(list, &join(&place, "all_partners"))?,
            None => self.columns(columns, &place)?,
        };
        let excluded = columns.excluded_names.as_deref();
        partners.extend(self.excluded(excluded, columns.probability_repelled, &place)?);
        Ok(partners)
    }

    /// Partners that are listed one by one.
    fn listed(&self, list: &[PartnerFile], place: &str) -> Result<Vec<Partner>, RecipeError> {
        let mut partners = Vec::new();
        for (index, partner) in list.iter().enumerate() {
            let at = format!("{place}[{index}]");
            let probability = partner.binding_probability.unwrap_or(1.0);
            self.check_probability(probability, -1.0, &join(&at, "binding_probability"))?;
            let weight = partner.weight.unwrap_or(1.0);
            if !(weight.is_finite() && weight >= 0.0) {
                let at = join(&at, "weight");
                return Err(self.out_of_range(at, "a weight", "at least 0", weight));
            }
            let given = partner.positions.iter().flatten().chain(&partner.position);
            let given: Vec<[f64; 3]> = given.copied().collect();
            partners.push(Partner {
                entries: self.entries_named(&partner.name, &join(&at, "name"))?,
                probability,
                weight,
                positions: self.sites(&given, &join(&at, "position"))?,
            });
            let excluded = partner.excluded_names.as_deref();
            partners.extend(self.excluded(excluded, partner.probability_repelled, &at)?);
        }
        Ok(partners)
    }

    /// Partners as lists by column, with one probability for all.
    fn columns(&self, columns: &PartnerColumns, place: &str) -> Result<Vec<Partner>, RecipeError> {
        let probability = columns.probability_binding.unwrap_or(1.0);
        self.check_probability(probability, -1.0, &join(place, "probability_binding"))?;
        let mut partners = Vec::new();
        for (index, name) in columns.names.iter().flatten().enumerate() {
            let given = columns.positions.as_ref().and_then(|p| p.get(index));
            let at = format!("{place}.positions[{index}]");
            partners.push(Partner {
                entries: self.entries_named(name, &format!("{place}.names[{index}]"))?,
                probability,
                weight: 1.0,
                positions: self.sites(given.map_or(&[], std::slice::from_ref), &at)?,
            });
        }
        Ok(partners)
    }

    /// Places relative to a partner.
    fn sites(&self, given: &[[f64; 3]], place: &str) -> Result<Vec<Vec3>, RecipeError> {
        let mut sites = Vec::new();
        for position in given {
            let position = self.point(*position, "a position", place)?;
            // The default of cellPACK, which means anywhere.
            if position != Vec3::ZERO {
                sites.push(position);
            }
        }
        Ok(sites)
    }

    /// Molecules to stay away from.
    fn excluded(
        &self,
        names: Option<&[String]>,
        probability: Option<f64>,
        place: &str,
    ) -> Result<Vec<Partner>, RecipeError> {
        let repelled = probability.unwrap_or(1.0);
        self.check_probability(repelled, 0.0, &join(place, "probability_repelled"))?;
        let mut partners = Vec::new();
        for (index, name) in names.unwrap_or_default().iter().enumerate() {
            let at = format!("{place}.excluded_names[{index}]");
            partners.push(Partner {
                entries: self.entries_named(name, &at)?,
                probability: -repelled,
                weight: 1.0,
                positions: Vec::new(),
            });
        }
        Ok(partners)
    }

    fn check_probability(&self, value: f64, least: f64, place: &str) -> Result<(), RecipeError> {
        if (least..=1.0).contains(&value) {
            return Ok(());
        }
        let allowed = if least < 0.0 {
            "from -1 to 1"
        } else {
            "from 0 to 1"
        };
        Err(self.out_of_range(place, "a probability", allowed, value))
    }

    /// The entries with the name of an entry or of an object.
    pub(super) fn entries_named(&self, name: &str, place: &str) -> Result<Vec<usize>, RecipeError> {
        let (entries, ingredients) = (&self.recipe.entries, &self.recipe.ingredients);
        let object = |entry: &Entry| &*ingredients[entry.ingredient].name;
        let is_meant = |entry: &Entry| entry.name == name || object(entry) == name;
        let all = entries.iter().enumerate();
        let found: Vec<usize> = all
            .filter_map(|(index, entry)| is_meant(entry).then_some(index))
            .collect();
        if found.is_empty() && !self.objects.contains_key(name) {
            let known = entries.iter().flat_map(|e| [&*e.name, object(e)]);
            return Err(self.unknown_name(place, "object or entry", name, known));
        }
        Ok(found)
    }
}
