//! The forecast as one self-contained page.

use maud::html;

use super::Outlook;
use super::screen::{notes, table};
use super::words::{best, introduction, limits};
use crate::html::{list, page, plain_table, prose};
use crate::printable::printable;
use crate::words::Sentence;

/// The page.
#[must_use]
pub fn html_page(outlook: &Outlook<'_>) -> String {
    let forecast = outlook.forecast;
    let best: Vec<Sentence> = forecast.best.iter().map(|each| best(each, &forecast.baseline)).collect();
    let main = html! {
        header {
            p class="device" { (printable(outlook.device)) " (" (printable(outlook.target)) ")" }
            h1 { "What another layout would gain" }
            ul { @for sentence in &best { li { (prose(sentence.as_str())) } } }
        }
        (list("How it was predicted", &introduction(outlook)))
        section class="speeds" { h2 { "Every layout" } (plain_table(&table(outlook))) }
        (list("Limits", &limits()))
        (list("Conditions", &notes(outlook)))
    };
    page(&format!("what if: {}", printable(outlook.target)), &main)
}
