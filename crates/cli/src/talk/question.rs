//! Shows the questions that the model has for the user.

use std::io;

use pilothouse::PermissionRequest;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::printer::{BOLD, DIM, NAME, Printer, WARN, one_line};
use crate::talk::approval::unanswered;
use crate::talk::input::{read_line, settle, unbracketed};

#[derive(Debug, Deserialize)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    question: String,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: String,
}

/// Asks all questions of an `AskUserQuestion` call, and answers it.
pub(crate) async fn ask(
    mut request: PermissionRequest,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> io::Result<()> {
    let input = Value::Object((*request.input).clone());
    let questions = match serde_json::from_value::<Questions>(input) {
        Ok(questions) => questions.questions,
        Err(error) => {
            request.deny(format!("These questions cannot be shown: {error}"));
            return Ok(());
        }
    };
    for question in &questions {
        show(question, printer)?;
        settle(stop).await?;
        let chosen = loop {
            printer.prompt("  > ")?;
            let Some(answer) = read_line(stop).await? else {
                unanswered(request, stop);
                return Ok(());
            };
            match chosen(question, unbracketed(&answer).trim()) {
                Some(chosen) => break chosen,
                None => {
                    printer.note(format_args!("  {DIM}choose from 1 to {}{DIM:#}", question.options.len()))?
                }
            }
        };
        request = request.answer(&question.question, chosen);
    }
    request.allow();
    Ok(())
}

fn show(question: &Question, printer: &mut Printer) -> io::Result<()> {
    printer.note(format_args!("{WARN}?{WARN:#} {BOLD}{}{BOLD:#}", one_line(&question.question, 200)))?;
    for (number, choice) in question.options.iter().enumerate() {
        printer.note(format_args!(
            "  {NAME}{}{NAME:#} {} {DIM}{}{DIM:#}",
            number + 1,
            one_line(&choice.label, 80),
            one_line(&choice.description, 120)
        ))?;
    }
    let how = if question.multi_select {
        "numbers with commas, or your own words"
    } else {
        "a number, or your own words"
    };
    printer.note(format_args!("  {DIM}{how}{DIM:#}"))
}

/// Numbers stand for choices; other text is the user's own answer. None for a number that no choice has.
fn chosen(question: &Question, answer: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = if question.multi_select { answer.split(',').collect() } else { vec![answer] };
    let numbers: Option<Vec<usize>> = parts.iter().map(|part| part.trim().parse().ok()).collect();
    match numbers {
        Some(numbers) if !question.options.is_empty() => {
            let label = |number: usize| {
                question.options.get(number.checked_sub(1)?).map(|choice| choice.label.clone())
            };
            numbers.into_iter().map(label).collect()
        }
        _ => Some(vec![answer.to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_choices_and_words_are_words() {
        let question = |multi_select| {
            let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
            Question { question: "?".to_owned(), options: vec![choice("Red"), choice("Blue")], multi_select }
        };
        let cases: [(bool, &str, Option<&[&str]>); 8] = [
            (false, "2", Some(&["Blue"])),
            (false, "3", None),
            (false, "0", None),
            (false, "green", Some(&["green"])),
            (false, "1, 2", Some(&["1, 2"])),
            (true, "1, 2", Some(&["Red", "Blue"])),
            (true, "1, 3", None),
            (true, "1, green", Some(&["1, green"])),
        ];
        for (multi, answer, expected) in cases {
            let expected = expected.map(|labels| labels.iter().map(ToString::to_string).collect());
            assert_eq!(chosen(&question(multi), answer), expected, "{answer}");
        }
        let open = Question { question: "?".to_owned(), options: Vec::new(), multi_select: false };
        assert_eq!(chosen(&open, "9"), Some(vec!["9".to_owned()]));
    }
}
