//! A verdict, a table and lists of sentences: what a bench says that is no row of requests.

use flashscope_record::observation::{Data, Observations};
use flashscope_record::run_file::RunFile;
use maud::{Markup, html};

use crate::bound::bound;
use crate::chart::Table;
use crate::words::{Sentence, ending};
use crate::{Style, claims, files, html, terminal};

/// What such a bench says.
#[derive(Debug, Clone)]
pub struct Tabled {
    /// The verdict.
    pub headline: Sentence,
    /// What the table is called.
    pub title: &'static str,
    /// The figures.
    pub table: Table,
    /// Sentences under their titles; those without any are left out.
    pub lists: Vec<(&'static str, Vec<Sentence>)>,
}

impl Tabled {
    /// Of the last such bench of a run; `None` if it has none.
    #[must_use]
    pub fn of(run: &RunFile) -> Option<Self> {
        run.observations.iter().rev().find_map(|seen| {
            let tabled = match &seen.data {
                Data::Files(data) => files::tabled(data),
                Data::Methods(data) => claims::tabled(data),
                _ => return None,
            };
            Some(tabled.ended(seen))
        })
    }

    /// With what ended it early in front of the other lists.
    fn ended(mut self, seen: &Observations) -> Self {
        let early: Vec<Sentence> = ending(seen).into_iter().map(Sentence::new).collect();
        self.lists.insert(0, ("How sure", early));
        self
    }

    /// As text, lines at most `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize, style: Style) -> String {
        terminal::tabled(&self.headline, (self.title, &self.table), &self.lists, width, style)
    }

    /// The parts of a page.
    pub(crate) fn markup(&self) -> Markup {
        html! {
            @if !self.table.rows.is_empty() {
                section class="speeds" { h2 { (self.title) } (html::plain_table(&self.table)) }
            }
            section class="words" {
                @for (title, sentences) in &self.lists {
                    @if !sentences.is_empty() {
                        h2 { (title) }
                        ul { @for sentence in sentences { li { (bound(sentence.as_str())) } } }
                    }
                }
            }
        }
    }
}
