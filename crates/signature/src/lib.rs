//! A custodian's signature of a model file.
//!
//! A certificate says why a model is private; it does not say who says so, and anybody can write one for weights of their own. A signature
//! binds the file, byte by byte, to whoever holds a key. It lies beside the model, as a file of its own, so that the model stays what it is
//! and files of every version can be signed:
//!
//! ```
//! use pairdp_signature::{SecretKey, Signature};
//!
//! let key = SecretKey::new()?;
//! let signature = key.sign(b"the bytes of a model file");
//! let read = Signature::from_json(&signature.to_json())?;
//! assert!(key.public().check(b"the bytes of a model file", &read).is_ok());
//! assert!(key.public().check(b"other bytes", &read).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is signed is the line `pairdp-signature/1` and the file: a signature that was given for something else is never one of a model.
//! Signatures are ed25519 (RFC 8032), checked strictly: weak keys and encodings that are not the canonical ones are refused.

use ed25519_dalek::{Signature as Ed25519, Signer as _, SigningKey, VerifyingKey};
use pairdp_units::{FrontEnd, Hint};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use zeroize::{Zeroize as _, Zeroizing};

const FORMAT: &str = "pairdp-signature/1";
const SECRET: &str = "pairdp-signing-key/1";
const PUBLIC: &str = "pairdp-public-key/1";

/// What a custodian signs with, and shows to nobody. It is overwritten when it is dropped.
pub struct SecretKey(SigningKey);

/// What everybody may check with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// The file that lies beside a signed model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    format: String,
    /// The public key, for whoever has several; the one to check with is the one that is known otherwise.
    key: String,
    #[serde(rename = "signature")]
    digits: String,
}

/// What is no key, no signature, or not the signature of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// A file that holds no secret key.
    #[error("this is no signing key")]
    NotASecretKey,
    /// A file that holds no public key, or a weak one.
    #[error("this is no public key")]
    NotAPublicKey,
    /// A file that holds no signature.
    #[error("this is no signature")]
    NotASignature,
    /// A signature with another key.
    #[error("the signature is another key's")]
    OtherKey,
    /// A signature of other bytes.
    #[error("the signature is not of this file")]
    OtherFile,
    /// The system has no randomness for a key.
    #[error("the system gives no randomness for a key")]
    NoRandomness,
}

impl Hint for SignatureError {
    fn code(&self) -> &'static str {
        "signature"
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        let new_key = to.either("`pairdp keygen`", "`pairdp.signing.new_key`");
        Some(match self {
            Self::NotASecretKey => format!(
                "name the file that {new_key} wrote; the public half, which ends in .pub, signs nothing"
            ),
            Self::NotAPublicKey => {
                format!("name the file ending in .pub that {new_key} wrote beside the key")
            }
            Self::NotASignature => {
                format!("sign the model again with {}", to.either("`pairdp sign`", "`pairdp.signing.sign`"))
            }
            Self::OtherKey => "ask the custodian which key is theirs".into(),
            Self::OtherFile => {
                "the model was changed after it was signed, or the signature is of another model".into()
            }
            Self::NoRandomness => "try again".into(),
        })
    }
}

impl SecretKey {
    /// A new one, from the operating system's randomness.
    ///
    /// # Errors
    /// [`SignatureError::NoRandomness`].
    pub fn new() -> Result<Self, SignatureError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).map_err(|_| SignatureError::NoRandomness)?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// Reads the text of its file.
    ///
    /// # Errors
    /// [`SignatureError::NotASecretKey`].
    pub fn from_text(text: &str) -> Result<Self, SignatureError> {
        let mut bytes: [u8; 32] = read(text, SECRET).ok_or(SignatureError::NotASecretKey)?;
        let key = SigningKey::from_bytes(&bytes);
        bytes.zeroize();
        Ok(Self(key))
    }

    /// The text of its file, for its owner alone.
    pub fn to_text(&self) -> Zeroizing<String> {
        let bytes = Zeroizing::new(self.0.to_bytes());
        Zeroizing::new(written(SECRET, bytes.as_ref()))
    }

    /// Its public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs the bytes of a file.
    pub fn sign(&self, file: &[u8]) -> Signature {
        let signature = self.0.sign(&message(file));
        Signature {
            format: FORMAT.into(),
            key: hex(self.public().0.as_bytes()),
            digits: hex(&signature.to_bytes()),
        }
    }
}

impl PublicKey {
    /// Reads the text of its file.
    ///
    /// # Errors
    /// [`SignatureError::NotAPublicKey`], also for keys under which anything is signed.
    pub fn from_text(text: &str) -> Result<Self, SignatureError> {
        let bytes: [u8; 32] = read(text, PUBLIC).ok_or(SignatureError::NotAPublicKey)?;
        match VerifyingKey::from_bytes(&bytes) {
            // A point may be written in two ways; what is compared as text must have one.
            Ok(key) if !key.is_weak() && key.to_edwards().compress().as_bytes() == &bytes => Ok(Self(key)),
            _ => Err(SignatureError::NotAPublicKey),
        }
    }

    /// The text of its file, for everybody.
    pub fn to_text(&self) -> String {
        written(PUBLIC, self.0.as_bytes())
    }

    /// Its digits.
    pub fn digits(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// Whether the holder of the key signed these bytes.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn check(&self, file: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        if signature.key != self.digits() {
            return Err(SignatureError::OtherKey);
        }
        let bytes = unhex(&signature.digits).ok_or(SignatureError::NotASignature)?;
        let of_file = self.0.verify_strict(&message(file), &Ed25519::from_bytes(&bytes));
        of_file.map_err(|_| SignatureError::OtherFile)
    }
}

impl Signature {
    /// Reads the text of its file.
    ///
    /// # Errors
    /// [`SignatureError::NotASignature`].
    pub fn from_json(text: &str) -> Result<Self, SignatureError> {
        let read: Self = serde_json::from_str(text).map_err(|_| SignatureError::NotASignature)?;
        let whole = unhex::<32>(&read.key).is_some() && unhex::<64>(&read.digits).is_some();
        if read.format == FORMAT && whole { Ok(read) } else { Err(SignatureError::NotASignature) }
    }

    /// The text of its file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn message(file: &[u8]) -> Vec<u8> {
    [FORMAT.as_bytes(), b"\n", file].concat()
}

/// The bytes of a key's file: its kind, a space and its digits.
fn read(text: &str, kind: &str) -> Option<[u8; 32]> {
    unhex(text.trim_end_matches(['\r', '\n']).strip_prefix(kind)?.strip_prefix(' ')?)
}

fn written(kind: &str, bytes: &[u8]) -> String {
    format!("{kind} {}\n", hex(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Exactly so many bytes, in small letters.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    if digits.len() != 2 * N || !digits.iter().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (k, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * k..2 * k + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 8032, section 7.1, tests 1 to 3: the scheme is that of the standard.
    #[test]
    fn signatures_are_those_of_the_standard() {
        for (secret, public, message, signature) in [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                &b""[..],
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                b"\x72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
                b"\xaf\x82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            ),
        ] {
            let key = SecretKey::from_text(&format!("{SECRET} {secret}\n")).unwrap();
            assert_eq!(key.public().digits(), public);
            assert_eq!(hex(&key.0.sign(message).to_bytes()), signature);
        }
    }

    #[test]
    fn a_signature_is_of_one_file_by_one_key() {
        let (key, other) = (SecretKey::new().unwrap(), SecretKey::new().unwrap());
        let signature = key.sign(b"model");
        assert_eq!(key.public().check(b"model", &signature), Ok(()));
        assert_eq!(key.public().check(b"model ", &signature), Err(SignatureError::OtherFile));
        assert_eq!(other.public().check(b"model", &signature), Err(SignatureError::OtherKey));
        // Under another name it is still another's.
        let renamed = Signature { key: other.public().digits(), ..signature.clone() };
        assert_eq!(other.public().check(b"model", &renamed), Err(SignatureError::OtherFile));
        // What was signed without saying that it is a model is none.
        let bare = Signature { digits: hex(&key.0.sign(b"model").to_bytes()), ..signature };
        assert_eq!(key.public().check(b"model", &bare), Err(SignatureError::OtherFile));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let key = SecretKey::new().unwrap();
        let (secret, public) = (key.to_text(), key.public().to_text());
        assert_eq!(*SecretKey::from_text(&secret).unwrap().to_text(), *secret);
        assert_eq!(PublicKey::from_text(&public).unwrap(), key.public());
        for text in [
            &secret[..secret.len() - 2],
            &public,
            "",
            SECRET,
            &secret.to_uppercase(),
            &secret.replace(' ', ""),
        ] {
            assert_eq!(SecretKey::from_text(text).err(), Some(SignatureError::NotASecretKey), "{text}");
        }
        assert!(PublicKey::from_text(&secret).is_err() && PublicKey::from_text(&public[1..]).is_err());
        // Points of small order: anything could be signed under them.
        let identity = format!("01{}", "0".repeat(62));
        for weak in ["0".repeat(64), identity, "f".repeat(64)] {
            assert!(PublicKey::from_text(&format!("{PUBLIC} {weak}\n")).is_err(), "{weak}");
        }
    }

    proptest! {
        /// Whatever a bit is changed in: the file, or the signature.
        #[test]
        fn no_changed_bit_passes(file in proptest::collection::vec(any::<u8>(), 1..200), at in any::<usize>(), bit in 0_u8..8) {
            let key = SecretKey::from_text(&format!("{SECRET} {}", "07".repeat(32))).unwrap();
            let signature = key.sign(&file);
            let mut changed = file.clone();
            let place = at % file.len();
            changed[place] ^= 1 << bit;
            prop_assert!(key.public().check(&changed, &signature).is_err());
            let mut bytes: [u8; 64] = unhex(&signature.digits).unwrap();
            bytes[at % 64] ^= 1 << bit;
            let forged = Signature { digits: hex(&bytes), ..signature };
            prop_assert!(key.public().check(&file, &forged).is_err());
        }

        #[test]
        fn no_text_is_too_odd(text in ".{0,200}") {
            let _ = (SecretKey::from_text(&text).is_err(), PublicKey::from_text(&text).is_err());
            prop_assert!(Signature::from_json(&text).is_err());
        }
    }
}
