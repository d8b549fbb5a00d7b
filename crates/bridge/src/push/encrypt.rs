//! A message for one browser, as RFC 8291 has it.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The largest record: services take messages of 4096 bytes, and one record is all there is.
const RECORD: u32 = 4096;

/// The longest text that fits with the header, the mark of the end and the authentication tag.
pub(super) const LONGEST: usize = 3000;

/// Encrypts a message for the holder of the key that `public` belongs to. Fails if that is no key.
pub(super) fn encrypt(message: &[u8], public: &[u8], auth: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let ours = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let our_public = ours.compute_public_key()?;
    let our_public = our_public.as_ref();
    let theirs = UnparsedPublicKey::new(&ECDH_P256, public);
    let info = [b"WebPush: info\0", public, our_public].concat();
    let secret = agree_ephemeral(ours, &theirs, |shared| {
        expand::<32>(&Salt::new(HKDF_SHA256, auth).extract(shared), &info)
    })??;

    let mut salt = [0; 16];
    random.fill(&mut salt)?;
    let derived = Salt::new(HKDF_SHA256, &salt).extract(&secret);
    let key = UnboundKey::new(&AES_128_GCM, &expand::<16>(&derived, b"Content-Encoding: aes128gcm\0")?)?;
    let nonce = Nonce::assume_unique_for_key(expand(&derived, b"Content-Encoding: nonce\0")?);

    // The mark says that this record is the last one.
    let mut record = [message, &[2]].concat();
    LessSafeKey::new(key).seal_in_place_append_tag(nonce, Aad::empty(), &mut record)?;
    let id_length = u8::try_from(our_public.len()).map_err(|_| Unspecified)?;
    Ok([&salt, RECORD.to_be_bytes().as_slice(), &[id_length], our_public, &record].concat())
}

fn expand<const N: usize>(derived: &Prk, info: &[u8]) -> Result<[u8; N], Unspecified> {
    let mut bytes = [0; N];
    derived.expand(&[info], Length(N))?.fill(&mut bytes)?;
    Ok(bytes)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}
