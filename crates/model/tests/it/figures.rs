//! Names, prices and sizes: the figures are what the real CLI reports for the same usage.

use pilothouse_model::{Ledger, ModelInfo, ThinkingStyle};
use pilothouse_proto::{CacheCreation, ServerToolUsage, Usage};

#[test]
fn costs_are_those_of_the_real_cli() {
    // model, input, output, cache read, dollars
    let cases = [
        ("claude-opus-5-5", 10, 5, 0, 0.00014),
        ("opus", 100_000, 5_000, 0, 0.5),
        ("claude-opus-5-5", 0, 0, 1_000_000, 0.2),
        ("sonnet", 1_000, 0, 0, 0.002),
        ("sonnet", 0, 1_000, 0, 0.01),
        ("sonnet", 0, 0, 1_000_000, 0.1),
        ("haiku", 10, 5, 0, 0.0000035),
        ("haiku", 0, 0, 1_000_000, 0.05),
        ("fable", 1_000, 1_000, 0, 0.048),
        ("fable", 0, 0, 1_000_000, 0.2),
        ("claude-sonnet-4-5-20250929", 330, 165, 0, 0.003465),
        ("claude-opus-4-8[1m]", 10, 5, 0, 0.000175),
        ("claude-haiku-4-5", 1_000, 1_000, 1_000_000, 0.106),
        ("claude-3-5-haiku-20241022", 1_000, 10, 0, 0.00084),
        ("claude-made-up-9", 1_000, 1_000, 0, 0.024),
    ];
    for (model, input, output, cache_read, dollars) in cases {
        let usage = Usage {
            input_tokens: input.into(),
            output_tokens: output.into(),
            cache_read_input_tokens: cache_read.into(),
            ..Usage::default()
        };
        let mut ledger = Ledger::default();
        ledger.add(model, &usage);
        assert_eq!(ledger.total_cost().to_number().as_f64(), Some(dollars), "{model} {usage:?}");
    }
}

#[test]
fn cache_writes_and_searches_have_prices_of_their_own() {
    let mut ledger = Ledger::default();
    let writes = Usage {
        cache_creation_input_tokens: 1_000_000.into(),
        cache_creation: CacheCreation {
            ephemeral_5m_input_tokens: 600_000,
            ephemeral_1h_input_tokens: 400_000,
            ..CacheCreation::default()
        }
        .into(),
        ..Usage::default()
    };
    ledger.add("opus", &writes);
    assert_eq!(ledger.total_cost().to_f64(), 6.2);
    let searches = ServerToolUsage { web_search_requests: 10.into(), ..ServerToolUsage::default() };
    ledger.add("haiku", &Usage { server_tool_use: searches.into(), ..Usage::default() });
    assert_eq!(ledger.total_cost().to_f64(), 6.3);
    let by_model = ledger.by_model();
    let names: Vec<&str> = by_model.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["claude-opus-5-5", "claude-haiku-5-5"]);
    assert_eq!(by_model[1].1.web_search_requests, 10);
}

#[test]
fn sums_of_many_small_costs_are_exact() {
    let usage = Usage { input_tokens: 10.into(), output_tokens: 5.into(), ..Usage::default() };
    let mut ledger = Ledger::default();
    for _ in 0..33 {
        ledger.add("claude-sonnet-4-5-20250929", &usage);
    }
    assert_eq!(ledger.total_cost().to_number().to_string(), "0.003465");
}

#[test]
fn names_are_resolved() {
    // name, id, what the API is told, window, most output
    let cases = [
        ("default", "claude-opus-5-5", "claude-opus-5-5", 1_000_000, 128_000),
        ("opusplan", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000, 128_000),
        ("sonnet[1m]", "claude-sonnet-5-5", "claude-sonnet-5-5", 1_000_000, 128_000),
        ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6[1m]", "claude-sonnet-4-6", 1_000_000, 32_000),
        ("claude-sonnet-4-6", "claude-sonnet-4-6", "claude-sonnet-4-6", 200_000, 32_000),
        ("claude-opus-5", "claude-opus-5", "claude-opus-5", 1_000_000, 64_000),
        ("claude-opus-50", "claude-opus-50", "claude-opus-50", 1_000_000, 32_000),
        ("", "", "", 1_000_000, 32_000),
    ];
    for (name, id, canonical, window, most) in cases {
        let info = ModelInfo::of(name);
        assert_eq!((info.id.as_str(), info.canonical.as_str()), (id, canonical), "{name}");
        assert_eq!((info.context_window, info.max_output), (window, most), "{name}");
    }
    assert_eq!(ModelInfo::of("claude-haiku-4-5").thinking, ThinkingStyle::Budget);
    let mine = |name: &str| (name == "ANTHROPIC_DEFAULT_HAIKU_MODEL").then(|| "sonnet".to_owned());
    assert_eq!(ModelInfo::with_aliases("haiku", mine).id, "claude-sonnet-5-5");
}
