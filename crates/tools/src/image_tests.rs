use super::Image;

fn of(bytes: &[u8]) -> Option<(&'static str, Option<(u32, u32)>)> {
    Image::of(bytes).map(|image| (image.kind, image.size))
}

#[test]
fn a_picture_is_what_its_bytes_say() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x02\x08\x06";
    assert_eq!(of(png), Some(("image/png", Some((256, 2)))));
    assert_eq!(of(b"GIF89a\x03\0\x04\0"), Some(("image/gif", Some((3, 4)))));
    let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08\0\x05\0\x06";
    assert_eq!(of(jpeg), Some(("image/jpeg", Some((6, 5)))));
    let webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x09\0\0\x13\0\0";
    assert_eq!(of(webp), Some(("image/webp", Some((10, 20)))));
    assert_eq!(of(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x01\x80\0\0"), Some(("image/webp", Some((2, 3)))));
}

#[test]
fn headers_that_lie_or_end_early_have_no_size() {
    assert_eq!(of(b"\x89PNG\r\n\x1a\n"), Some(("image/png", None)));
    assert_eq!(of(b"\xff\xd8\xff\xe0\xff"), Some(("image/jpeg", None)));
    assert_eq!(of(b"\xff\xd8\xff\xe0\0\0\xff\xe0\0\0"), Some(("image/jpeg", None)));
    assert_eq!(of(b"GIF89a\0\0\0\0"), Some(("image/gif", None)));
    assert_eq!(of(b"RIFF\0\0\0\0WEBPVP8X"), Some(("image/webp", None)));
    for no_picture in [&b""[..], b"alpha", b"<html>", b"RIFF\0\0\0\0WAVE"] {
        assert_eq!(of(no_picture), None);
    }
}
