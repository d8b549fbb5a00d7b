use super::*;

fn feed(fold: &mut Fold, line: &str) {
    let frame = pilothouse_proto::decode(line.as_bytes()).unwrap();
    fold.observe(&frame, line.as_bytes());
}

fn result(cost: f64, output: u64) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":{cost},"session_id":"s","modelUsage":{{"m":{{"inputTokens":1,"outputTokens":{output},"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":{cost},"contextWindow":1,"maxOutputTokens":1}}}}}}"#
    )
}

#[test]
fn results_are_cumulative_and_a_reset_starts_over() {
    let mut fold = Fold::default();
    assert_eq!(fold.usage(), Usage::default());
    feed(&mut fold, &result(0.25, 5));
    feed(&mut fold, &result(0.5, 9));
    let usage = fold.usage();
    assert_eq!((usage.cost_usd, usage.turns, usage.models["m"].output_tokens), (0.5, 2, 9));
    let reset = r#"{"type":"conversation_reset","new_conversation_id":"n","uuid":"u","session_id":"s"}"#;
    feed(&mut fold, reset);
    assert_eq!(fold.usage().cost_usd, 0.5);
    feed(&mut fold, &result(0.125, 2));
    let usage = fold.usage();
    assert_eq!((usage.cost_usd, usage.turns, usage.models["m"].output_tokens), (0.625, 3, 11));
}
