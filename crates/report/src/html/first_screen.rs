//! The first screen as a section of the page.

use flashscope_record::diagnosis::Bottleneck;
use flashscope_record::verdict::Mark;
use maud::{Markup, html};

use super::prose::prose;
use crate::first_screen::{ActionText, FirstScreen, NumberText, TimePart};

/// Headline, numbers, times and actions.
pub fn section(screen: &FirstScreen) -> Markup {
    html! {
        header {
            p class="device" { (screen.identity.join(" · ")) }
            h1 class={ "answer-" (screen.verdict.state.as_str()) } { (prose(&screen.headline)) }
        }
        (numbers(&screen.numbers))
        (time(&screen.time))
        (actions(screen))
        @if let Some(claim) = &screen.failed_claim { p { (prose(claim)) } }
        @if let Some(scope) = &screen.scope { p class="muted" { (prose(scope)) } }
    }
}

fn numbers(numbers: &[NumberText]) -> Markup {
    html! {
        section class="numbers" aria-label="Speeds" {
            @for number in numbers {
                div class={ "number " (mark_class(number.mark)) } {
                    p class="name" { (number.name) }
                    @if number.value.is_empty() {
                        p class="figure" { "–" }
                    } @else {
                        p class="figure" { (number.value) " " span class="unit" { (number.unit) } }
                        p class="spread" { (number.interval) }
                    }
                    p class="mark" { strong { (number.mark_text) } " " span class="muted" { (number.yardstick) } }
                }
            }
        }
    }
}

const fn mark_class(mark: Option<Mark>) -> &'static str {
    match mark {
        Some(mark) => mark.as_str(),
        None => "none",
    }
}

fn time(parts: &[TimePart]) -> Markup {
    html! {
        @if !parts.is_empty() {
            section class="time" {
                h2 { "Where the time of an everyday copy goes" }
                div class="parts" aria-hidden="true" {
                    @for (index, part) in parts.iter().enumerate() {
                        span class=(part_class(index, part.bottleneck)) style={ "width:" (part.percent) "%" } {}
                    }
                }
                ul class="legend" {
                    @for (index, part) in parts.iter().enumerate() {
                        li { span class={ "key " (part_class(index, part.bottleneck)) } {} (part.name) " " (part.percent) " %" }
                    }
                }
            }
        }
    }
}

const fn part_class(index: usize, bottleneck: Bottleneck) -> &'static str {
    match (bottleneck, index) {
        (Bottleneck::Flash, _) => "part-flash",
        (_, 0) => "part-first",
        (_, 1) => "part-second",
        _ => "part-other",
    }
}

fn actions(screen: &FirstScreen) -> Markup {
    html! {
        section class="actions" {
            h2 { "What to do" }
            @if !screen.actions.is_empty() {
                ol { @for action in &screen.actions { li { (action_item(action)) } } }
            }
            @if let Some(limit) = &screen.limit { p { (prose(&format!("{limit}."))) } }
        }
    }
}

fn action_item(action: &ActionText) -> Markup {
    html! {
        @if !action.gain.is_empty() { strong { (action.gain) } ": " }
        (prose(&action.text))
        @for command in &action.commands { pre { code { (command) } } }
    }
}
