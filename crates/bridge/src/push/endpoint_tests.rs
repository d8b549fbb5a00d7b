use super::*;

#[test]
fn only_public_addresses_by_https_are_called() {
    let rows = [
        ("https://push.example.com/send/1", true),
        ("https://93.184.216.34/x", true),
        ("https://[2606:2800:220:1:248:1893:25c8:1946]/x", true),
        ("http://push.example.com/", false),
        ("ftp://push.example.com/", false),
        ("https://user:secret@push.example.com/", false),
        ("https://localhost/", false),
        ("https://a.localhost./", false),
        ("https://intranet/", false),
        ("https://127.0.0.1/", false),
        ("https://2130706433/", false),
        ("https://0x7f.1/", false),
        ("https://10.1.2.3/", false),
        ("https://172.16.0.1/", false),
        ("https://192.168.1.1/", false),
        ("https://169.254.169.254/latest/meta-data", false),
        ("https://100.64.0.1/", false),
        ("https://0.0.0.0/", false),
        ("https://224.0.0.1/", false),
        ("https://198.18.0.1/", false),
        ("https://[::1]/", false),
        ("https://[::]/", false),
        ("https://[::ffff:127.0.0.1]/", false),
        ("https://[64:ff9b::7f00:1]/", false),
        ("https://[2002:7f00:1::]/", false),
        ("https://[2001:db8::1]/", false),
        ("https://[2001::1]/", false),
        ("https://[fe80::1]/", false),
        ("https://[fd00::1]/", false),
        ("https://[ff02::1]/", false),
        ("not a url", false),
    ];
    for (endpoint, expected) in rows {
        assert_eq!(Reach::Public.check(endpoint).is_ok(), expected, "{endpoint}");
    }
    assert!(Reach::Public.check(&format!("https://push.example.com/{}", "x".repeat(3000))).is_err());
    assert!(Reach::Anywhere.check("http://127.0.0.1:9/x").is_ok());
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_called() {
    let found = PublicNames.resolve("localhost".parse().unwrap()).await;
    assert_eq!(found.err().unwrap().to_string(), "the name leads to no public address");
}
