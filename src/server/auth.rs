//! BasicAuth with several users, whose passwords are plain or argon2 hashes.
//!
//! Passwords are compared as digests under a key made at start: equal lengths, in constant time, and no
//! plain password stays in memory. What a refusal costs does not tell whether the login exists. An argon2
//! hash is worked out once for a right password, then its digest is known; wrong ones wait in one line,
//! so that guessing takes one core at most.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use argon2::password_hash::PasswordHash;
use argon2::{Argon2, Params, PasswordVerifier};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use ring::hmac;
use ring::rand::SystemRandom;
use subtle::ConstantTimeEq;

use super::error::ApiError;

/// Refused credentials that are remembered: a spider with a wrong password must not cost an argon2 hash
/// a request.
const REFUSED_KEPT: usize = 1024;

const CHALLENGE: &str = "Basic realm=\"aduana\", charset=\"UTF-8\"";

type Digest = [u8; 32];

/// A table of passwords that cannot be used; each names the login.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PasswdsError {
    #[error("passwds names no login, so that nobody could come in: name one, or leave passwds out")]
    Empty,
    #[error("passwds: the login {0:?} holds a colon, which BasicAuth cannot carry")]
    Colon(String),
    #[error("passwds.{login}: {reason}; `aduana passwd` makes a hash")]
    Hash { login: String, reason: String },
    #[error("the operating system gives no random numbers")]
    NoRandomness,
}

/// Who may come in. Cheap to clone.
#[derive(Clone)]
pub struct Auth(Option<Arc<Users>>);

struct Users {
    key: hmac::Key,
    users: HashMap<String, Secret>,
    /// Some user's hash, for the cost of it, where there is none to verify against.
    stand_in: Option<Arc<str>>,
    refused: Mutex<HashSet<Digest>>,
    /// One argon2 at a time.
    turn: tokio::sync::Mutex<()>,
}

enum Secret {
    /// Digest of login and password.
    Plain(Digest),
    /// An argon2 hash, and the digest of the login and password that were found right.
    Hashed { hash: Arc<str>, verified: OnceLock<Digest> },
}

impl Auth {
    /// Without `passwds` everybody may come in.
    ///
    /// # Errors
    /// [`PasswdsError`] names the login whose password cannot be used.
    pub fn new(passwds: Option<&BTreeMap<String, String>>) -> Result<Auth, PasswdsError> {
        passwds.map(Users::new).transpose().map(|users| Auth(users.map(Arc::new)))
    }

    /// # Errors
    /// 401 unless the headers carry a login and its password.
    pub async fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        match &self.0 {
            None => Ok(()),
            Some(users) => users.check(&credentials(headers)?).await,
        }
    }
}

impl Users {
    fn new(passwds: &BTreeMap<String, String>) -> Result<Users, PasswdsError> {
        if passwds.is_empty() {
            return Err(PasswdsError::Empty);
        }
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| PasswdsError::NoRandomness)?;
        let mut users = HashMap::new();
        let mut stand_in = None;
        for (login, password) in passwds {
            if login.contains(':') {
                return Err(PasswdsError::Colon(login.clone()));
            }
            let secret = if password.starts_with("$argon2") {
                check_hash(password).map_err(|reason| PasswdsError::Hash { login: login.clone(), reason })?;
                let hash: Arc<str> = password.as_str().into();
                stand_in = Some(Arc::clone(&hash));
                Secret::Hashed { hash, verified: OnceLock::new() }
            } else {
                Secret::Plain(digest(&key, format!("{login}:{password}").as_bytes()))
            };
            users.insert(login.clone(), secret);
        }
        Ok(Users { key, users, stand_in, refused: Mutex::default(), turn: tokio::sync::Mutex::default() })
    }

    async fn check(&self, credentials: &[u8]) -> Result<(), ApiError> {
        let given = digest(&self.key, credentials);
        let colon = credentials.iter().position(|&byte| byte == b':').ok_or_else(malformed)?;
        let login = std::str::from_utf8(&credentials[..colon]).map_err(|_| malformed())?;
        let user = self.users.get(login);
        if self.is_known(user, &given) {
            return Ok(());
        }
        let Some(stand_in) = &self.stand_in else { return Err(wrong()) };
        if self.refused.lock().contains(&given) {
            return Err(wrong());
        }
        // Requests with the same credentials come together: the first one's verdict serves all.
        let _turn = self.turn.lock().await;
        if self.is_known(user, &given) {
            return Ok(());
        }
        if self.refused.lock().contains(&given) {
            return Err(wrong());
        }
        let hash = match user {
            Some(Secret::Hashed { hash, .. }) => hash,
            _ => stand_in,
        };
        let right = verify(Arc::clone(hash), credentials[colon + 1..].to_vec()).await;
        match user {
            Some(Secret::Hashed { verified, .. }) if right => {
                let _ = verified.set(given);
                Ok(())
            }
            _ => {
                let mut refused = self.refused.lock();
                if refused.len() >= REFUSED_KEPT {
                    refused.clear();
                }
                refused.insert(given);
                Err(wrong())
            }
        }
    }

    fn is_known(&self, user: Option<&Secret>, given: &Digest) -> bool {
        let (known, exists) = match user {
            Some(Secret::Plain(digest)) => (Some(digest), true),
            Some(Secret::Hashed { verified, .. }) => (verified.get(), true),
            None => (None, false),
        };
        let is_equal: bool = known.unwrap_or(&Digest::default()).ct_eq(given).into();
        is_equal && exists && known.is_some()
    }
}

/// The login and password of the headers, with a colon between.
fn credentials(headers: &HeaderMap) -> Result<Vec<u8>, ApiError> {
    let header = headers.get(AUTHORIZATION).ok_or_else(|| {
        unauthorized("a login is needed").hint("send a login and its password as BasicAuth")
    })?;
    let (scheme, encoded) =
        header.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    STANDARD.decode(encoded.trim()).map_err(|_| malformed())
}

fn malformed() -> ApiError {
    unauthorized("the Authorization header cannot be read")
        .hint("give the word Basic, a space, and login:password in base64")
}

fn wrong() -> ApiError {
    unauthorized("wrong login or password")
}

fn unauthorized(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, message).header("www-authenticate", CHALLENGE)
}

fn digest(key: &hmac::Key, credentials: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(hmac::sign(key, credentials).as_ref());
    digest
}

fn check_hash(hash: &str) -> Result<(), String> {
    let parsed = PasswordHash::new(hash).map_err(|e| format!("not an argon2 hash: {e}"))?;
    argon2::Algorithm::try_from(parsed.algorithm).map_err(|e| format!("not an argon2 hash: {e}"))?;
    Params::try_from(&parsed).map_err(|e| format!("wrong argon2 parameters: {e}"))?;
    match (parsed.salt, parsed.hash) {
        (Some(_), Some(_)) => Ok(()),
        _ => Err("the argon2 hash is cut off".into()),
    }
}

/// Works the hash out on a thread that may block: it takes tens of milliseconds on purpose.
async fn verify(hash: Arc<str>, password: Vec<u8>) -> bool {
    let work = move || {
        PasswordHash::new(&hash).is_ok_and(|hash| Argon2::default().verify_password(&password, &hash).is_ok())
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use argon2::PasswordHasher;
    use argon2::password_hash::SaltString;

    fn hash_of(password: &str) -> String {
        let params = Params::new(64, 1, 1, None).unwrap();
        let argon2 = Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
        let salt = SaltString::encode_b64(b"0123456789abcdef").unwrap();
        argon2.hash_password(password.as_bytes(), &salt).unwrap().to_string()
    }

    fn auth(passwds: &[(&str, &str)]) -> Auth {
        let passwds = passwds.iter().map(|&(login, password)| (login.into(), password.into())).collect();
        Auth::new(Some(&passwds)).unwrap()
    }

    async fn enters(auth: &Auth, credentials: &str) -> bool {
        let mut headers = HeaderMap::new();
        let value = format!("Basic {}", STANDARD.encode(credentials));
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        auth.check(&headers).await.is_ok()
    }

    #[tokio::test]
    async fn each_user_enters_with_the_own_password_only() {
        for second in ["pass:word".to_owned(), hash_of("pass:word")] {
            let auth = auth(&[("test", "123"), ("ann", &second)]);
            // Twice: the second time the verdicts are remembered.
            for _ in 0..2 {
                assert!(enters(&auth, "test:123").await);
                assert!(enters(&auth, "ann:pass:word").await);
                for wrong in
                    ["test:pass:word", "ann:123", "ann:", "bob:123", ":", "nothing", "test:1234", "ann:pass"]
                {
                    assert!(!enters(&auth, wrong).await, "{wrong}");
                }
                assert!(!enters(&auth, &format!("ann:{second}x")).await);
            }
        }
    }

    #[tokio::test]
    async fn a_hash_is_no_password() {
        let hash = hash_of("secret");
        assert!(!enters(&auth(&[("ann", &hash)]), &format!("ann:{hash}")).await);
    }

    #[tokio::test]
    async fn remembered_refusals_are_bounded() {
        let auth = auth(&[("ann", &hash_of("secret"))]);
        for i in 0..REFUSED_KEPT + 10 {
            assert!(!enters(&auth, &format!("ann:{i}")).await);
        }
        assert!(auth.0.as_ref().unwrap().refused.lock().len() <= REFUSED_KEPT);
        assert!(enters(&auth, "ann:secret").await);
    }

    #[test]
    fn passwords_that_cannot_be_used_are_refused_at_the_start() {
        for (login, password, expected) in [
            ("a:b", "x", "the login \"a:b\" holds a colon"),
            ("ann", "$argon2id$v=19$m=64,t=1,p=1$MDEyMw", "passwds.ann: "),
            ("ann", "$argon2id", "passwds.ann: the argon2 hash is cut off"),
            (
                "ann",
                "$argon2x$v=19$m=64,t=1,p=1$MDEyMzQ1Njc$MDEyMzQ1Njc4OTAxMjM0NTY",
                "passwds.ann: not an argon2 hash",
            ),
        ] {
            let passwds = BTreeMap::from([(login.to_owned(), password.to_owned())]);
            let error = Auth::new(Some(&passwds)).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(Auth::new(Some(&BTreeMap::new())).err(), Some(PasswdsError::Empty));
    }
}
