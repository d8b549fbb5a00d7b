use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Number;

/// Digits after the point that a price can have, and with them a cost: a millionth of a price is a millionth of a
/// millionth of a dollar.
const DECIMALS: u32 = 6;

/// A price in US dollars, exact to a millionth: of a million tokens, or of one search.
///
/// ```
/// # use pilothouse_model::Price;
/// let price: Price = "0.125".parse()?;
/// assert_eq!(price.of_tokens(8_000_000).to_number().to_string(), "1.0");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(u64);

/// A sum of money in US dollars, counted in whole millionths of a millionth, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u128);

impl Price {
    /// What so many tokens cost, at this price of a million.
    pub fn of_tokens(self, tokens: u64) -> Cost {
        Cost(u128::from(self.0) * u128::from(tokens))
    }

    /// What so many pieces cost, at this price of one.
    pub fn of_pieces(self, pieces: u64) -> Cost {
        Cost(u128::from(self.0).saturating_mul(u128::from(pieces)).saturating_mul(1_000_000))
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text} is no price: write dollars with at most {DECIMALS} digits after the point");
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > DECIMALS as usize
        {
            return Err(wrong());
        }
        let digits = format!("{whole}{fraction:0<width$}", width = DECIMALS as usize);
        digits.parse().map(Self).map_err(|_| wrong())
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Cost {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The nearest number that JSON can carry; nothing is rounded before.
    pub fn to_number(self) -> Number {
        let scale = 10_u128.pow(2 * DECIMALS);
        if self.0 == 0 {
            return Number::from(0);
        }
        let decimal = format!("{}.{:012}", self.0 / scale, self.0 % scale);
        decimal.parse().ok().and_then(Number::from_f64).unwrap_or_else(|| Number::from(0))
    }

    /// The same as a float, to be compared with a budget.
    pub fn to_f64(self) -> f64 {
        self.to_number().as_f64().unwrap_or_default()
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::plus)
    }
}
