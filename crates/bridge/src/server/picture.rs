//! An address as a picture for a phone's camera.

use std::fmt::Write as _;

use qrcode::{Color, QrCode};

/// The empty border that cameras need, in squares.
const BORDER: usize = 4;

/// The picture as SVG, dark on light whatever the page looks like; nothing for an address that is too long.
pub(super) fn of(address: &str) -> Option<String> {
    let code = QrCode::new(address).ok()?;
    let (colors, width) = (code.to_colors(), code.width());
    let mut path = String::new();
    let rows = colors.chunks(width).zip(BORDER..);
    for (row, y) in rows {
        for (_, x) in row.iter().zip(BORDER..).filter(|(color, _)| **color == Color::Dark) {
            // Writing to a string cannot fail.
            let (Ok(()) | Err(_)) = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    let side = width + 2 * BORDER;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_code_is_in_the_picture() {
        let address = "https://me.example/ship/#pair=abcdefghjk";
        let picture = of(address).unwrap();
        let dark =
            QrCode::new(address).unwrap().to_colors().iter().filter(|color| **color == Color::Dark).count();
        assert_eq!(picture.matches("h1v1h-1z").count(), dark);
        assert!(picture.contains("M4 4h1v1h-1z"), "the first corner begins after the border: {picture}");
        assert_eq!(of(&"x".repeat(10_000)), None);
    }
}
