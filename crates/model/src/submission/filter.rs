//! The filter of an operation or a list, tried on a row.

use wire::operation::Filter;

use super::{Investigation, Submission};

impl Submission {
    /// Tells whether every condition of a filter holds.
    #[must_use]
    pub fn fits(&self, filter: &Filter) -> bool {
        let lane = self.seat.as_ref().filter(|seat| !seat.is_away()).map(|seat| &seat.lane);
        let error = self.error.as_ref().map(|error| &error.code);
        let investigation = self.investigation().map(Investigation::status);
        filter.pipeline == self.pipeline
            && filter.version.is_none_or(|version| version == self.version)
            && filter.state.as_ref().is_none_or(|state| *state == self.state)
            && filter.status.is_none_or(|status| status == self.status)
            && filter.investigation.is_none_or(|wanted| Some(wanted) == investigation)
            && filter.parent.is_none_or(|parent| Some(parent) == self.parent)
            && filter.lane.as_ref().is_none_or(|wanted| Some(wanted) == lane)
            && filter.labels.iter().all(|(label, value)| self.labels.get(label) == Some(value))
            && filter.error.as_ref().is_none_or(|code| Some(code) == error)
            && filter
                .fingerprint
                .is_none_or(|wanted| self.error.as_ref().is_some_and(|error| error.fingerprint() == wanted))
            && filter.created_before.is_none_or(|before| self.created_at < before)
            && filter.created_after.is_none_or(|after| self.created_at >= after)
            && filter.entered_before.is_none_or(|before| self.entered_at < before)
            && filter
                .worker
                .as_ref()
                .is_none_or(|worker| self.lease().is_some_and(|lease| lease.worker == *worker))
    }
}
