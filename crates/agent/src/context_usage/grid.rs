//! The context as a picture: squares in rows, each standing for as many tokens as any other.

use serde_json::{Value, json};

use super::{Category, percentage};

const ROWS: u64 = 10;
/// Squares in a row, and in one of a large window.
const WIDTH: u64 = 10;
const LARGE_WIDTH: u64 = 20;
const LARGE_WINDOW: u64 = 1_000_000;

/// What is used comes first and what is kept back last; whatever is left between them is free.
pub(super) fn rows(categories: &[Category], window: u64) -> Vec<Vec<Value>> {
    let width = if window >= LARGE_WINDOW { LARGE_WIDTH } else { WIDTH };
    let squares = (ROWS * width) as usize;
    let tokens_each = (window / (ROWS * width)).max(1);
    let of_kind = |kind: &'static str| {
        let chosen = categories.iter().filter(move |category| category.kind == kind);
        chosen.flat_map(|category| squares_of(category, tokens_each, window)).collect::<Vec<_>>()
    };
    let (mut picture, mut kept_back) = (of_kind("used"), of_kind("buffer"));
    kept_back.truncate(squares);
    picture.truncate(squares - kept_back.len());
    if let Some(free) = categories.iter().find(|category| category.kind == "free") {
        picture.resize(squares - kept_back.len(), square(free, 1.0, window));
    }
    picture.extend(kept_back);
    picture.chunks(width as usize).map(<[Value]>::to_vec).collect()
}

/// The squares of one category; the last one may be filled in part.
fn squares_of(category: &Category, tokens_each: u64, window: u64) -> Vec<Value> {
    let whole = category.tokens / tokens_each;
    let rest = (category.tokens % tokens_each) as f64 / tokens_each as f64;
    let full = (0..whole).map(|_| square(category, 1.0, window));
    full.chain((rest > 0.0).then(|| square(category, rest, window))).collect()
}

fn square(category: &Category, fullness: f64, window: u64) -> Value {
    json!({
        "color": category.color,
        "isFilled": true,
        "categoryName": category.name,
        "tokens": category.tokens,
        "percentage": percentage(category.tokens, window),
        "squareFullness": fullness,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(name: &'static str, tokens: u64, kind: &'static str) -> Category {
        Category { id: name, name, tokens, color: "inactive", kind }
    }

    fn names(rows: &[Vec<Value>]) -> Vec<&str> {
        rows.iter().flatten().filter_map(|square| square["categoryName"].as_str()).collect()
    }

    #[test]
    fn a_picture_has_what_is_used_first_and_what_is_kept_back_last() {
        // As the real CLI draws a window of a million tokens.
        let all = [
            category("prompt", 900, "used"),
            category("skills", 2_064, "used"),
            category("buffer", 33_000, "buffer"),
            category("free", 964_036, "free"),
        ];
        let rows = rows(&all, 1_000_000);
        assert_eq!((rows.len(), rows[0].len()), (10, 20));
        let names = names(&rows);
        assert_eq!(names[..3], ["prompt", "skills", "free"]);
        assert_eq!(names[190..], [&["free"; 3][..], &["buffer"; 7][..]].concat());
        assert_eq!((&rows[0][0]["squareFullness"], &rows[9][19]["percentage"]), (&json!(0.18), &json!(3)));
    }

    #[test]
    fn a_context_that_is_over_full_still_fits_the_picture() {
        let all = [category("messages", 900_000, "used"), category("buffer", 33_000, "buffer")];
        let rows = rows(&all, 200_000);
        assert_eq!(names(&rows).len(), 100);
    }
}
