//! The range of a parameter. Checks that the default lies in it, as far as both are literals.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, Type, UnOp};

use crate::attributes::ungrouped;

/// `low..` or `low..=high`.
pub(crate) struct Range {
    whole: Expr,
    low: Expr,
    high: Option<Expr>,
}

impl Parse for Range {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let whole: Expr = input.parse()?;
        let (low, high) = match ungrouped(&whole) {
            Expr::Range(ExprRange {
                start: Some(low),
                limits: RangeLimits::HalfOpen(_),
                end: None,
                ..
            }) => (low, None),
            Expr::Range(ExprRange {
                start: Some(low),
                limits: RangeLimits::Closed(_),
                end: Some(high),
                ..
            }) => (low, Some(high)),
            _ => {
                let advice = "a range is `low..=high`, both included, or `low..` without an upper \
                              limit; leave `range` out if any value will do";
                return Err(Error::new_spanned(whole, advice));
            }
        };
        let (low, high) = (Expr::clone(low), high.map(|high| Expr::clone(high)));
        let range = Range { whole, low, high };
        if range.ends_before(number(&range.low)) {
            return Err(Error::new_spanned(
                range.whole,
                "no value lies in this range: its lower limit exceeds the upper one",
            ));
        }
        Ok(range)
    }
}

impl Range {
    /// The range as an expression, whose limits must have the type `of`.
    pub(crate) fn tokens(&self, of: &Type) -> TokenStream {
        let low = &self.low;
        match &self.high {
            Some(high) => quote!(::core::ops::RangeInclusive::<#of>::new(#low, #high)),
            None => quote!(::core::ops::RangeFrom::<#of> { start: #low }),
        }
    }

    /// Refuses a default outside the range.
    pub(crate) fn check_default(&self, default: Option<&Expr>) -> syn::Result<()> {
        // The types that have ranges are numbers, and their `Default` is 0.
        let value = default.map_or(Some(0.0), number);
        let too_low = value.zip(number(&self.low)).is_some_and(|(value, low)| value < low);
        if !too_low && !self.ends_before(value) {
            return Ok(());
        }
        Err(match default {
            Some(default) => Error::new_spanned(default, "the default lies outside the range"),
            None => Error::new_spanned(
                &self.whole,
                "0 lies outside this range, so the parameter needs a `default = …`",
            ),
        })
    }

    fn ends_before(&self, value: Option<f64>) -> bool {
        let high = self.high.as_ref().and_then(number);
        value.zip(high).is_some_and(|(value, high)| value > high)
    }
}

/// The value of a literal. Rounding to `f64` never reverses the order of two values.
fn number(expression: &Expr) -> Option<f64> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Int(value), .. }) => value.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(value), .. }) => value.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|value| -value),
        _ => None,
    }
}
