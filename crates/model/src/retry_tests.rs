use std::time::Duration;

use pilothouse_proto::AssistantError;

use super::{Retries, Step};
use crate::failure::{ApiFailure, FailureKind};
use crate::request::Request;

fn failure(status: Option<u16>, retry_after: Option<u64>) -> ApiFailure {
    ApiFailure {
        kind: if status.is_some() { FailureKind::Api } else { FailureKind::Connection },
        class: AssistantError::Unknown,
        text: String::new(),
        message: String::new(),
        status,
        api_type: None,
        retry_after: retry_after.map(Duration::from_secs),
        request_id: None,
    }
}

#[test]
fn delays_double_up_to_a_limit_and_the_server_has_the_last_word() {
    let mut retries = Retries::new(100);
    let mut request = Request::new("opus");
    let mut delays = Vec::new();
    for _ in 0..9 {
        let Step::Wait(retry) = retries.after(&failure(Some(500), None), false, &mut request, 0.0) else {
            break;
        };
        delays.push(retry.delay.as_millis());
    }
    assert_eq!(delays, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);

    for (jitter, asked, expected) in [
        (0.0, None, 500),
        (1.0, None, 625),
        (7.0, None, 625),
        (0.5, Some(2), 2_000),
        (0.5, Some(u64::MAX), 3_600_000),
    ] {
        let step = Retries::new(1).after(&failure(None, asked), false, &mut request, jitter);
        let Step::Wait(retry) = step else { panic!("{step:?}") };
        assert_eq!(retry.delay.as_millis(), expected, "{jitter} {asked:?}");
    }
}

#[test]
fn a_very_patient_caller_does_not_overflow() {
    let mut retries = Retries::new(u32::MAX);
    let mut request = Request::new("opus");
    for _ in 0..100 {
        let step = retries.after(&failure(Some(503), None), false, &mut request, 1.0);
        assert!(matches!(step, Step::Wait(retry) if retry.delay <= Duration::from_secs(40)));
    }
}
