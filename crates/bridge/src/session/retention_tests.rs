use super::{DAY, FIRST, is_too_old};

#[test]
fn only_what_is_surely_old_is_forgotten() {
    let now = FIRST + 400 * DAY;
    let too_old = |updated_at| is_too_old(updated_at, now, 90);
    assert!(too_old(now - 91 * DAY));
    assert!(!too_old(now - 89 * DAY));
    assert!(!too_old(now + 30 * DAY), "the clock was put back");
    assert!(!too_old(5 * 60 * 1000), "the clock had not been set yet");
    assert!(!is_too_old(FIRST + DAY, 0, 90), "it is not set now");
}
