//! Quoted-printable (RFC 2045, section 6.7): how mail carries bytes beyond ASCII and lines beyond 76
//! characters.

/// Whether a text is quoted-printable. A bare `=` is common in logs that are not (`--erasesize=4194304`), so
/// it takes the header, an encoded `=` or micro sign, or a row that ends with a soft line break.
pub(super) fn is_likely(bytes: &[u8]) -> bool {
    const SIGNS: [&[u8]; 5] = [b"=3D", b"=C2=B5", b"=CE=BC", b"=B5s", b"encoding: quoted-printable"];
    SIGNS.iter().any(|sign| contains(bytes, sign)) || bytes.split(|&byte| byte == b'\n').any(is_broken_row)
}

fn contains(bytes: &[u8], sign: &[u8]) -> bool {
    bytes.windows(sign.len()).any(|window| window.eq_ignore_ascii_case(sign))
}

fn is_broken_row(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b"=") && !line.ends_with(b"==") && (contains(line, b"align ") || contains(line, b"iB "))
}

/// Decodes lines and joins those that a soft line break had split; each keeps the number of its first piece.
pub(super) fn decode(lines: &[(usize, Vec<u8>)]) -> Vec<(usize, Vec<u8>)> {
    let mut decoded: Vec<(usize, Vec<u8>)> = Vec::with_capacity(lines.len());
    let mut goes_on = false;
    for (number, line) in lines {
        let piece = line.trim_ascii_end();
        let soft = piece.strip_suffix(b"=");
        let bytes = decode_bytes(soft.unwrap_or(line));
        match decoded.last_mut() {
            Some((_, whole)) if goes_on => whole.extend(bytes),
            _ => decoded.push((*number, bytes)),
        }
        goes_on = soft.is_some();
    }
    decoded
}

fn decode_bytes(line: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'=', [high, low, after @ ..]) if let Some(byte) = hexadecimal(*high, *low) => {
                bytes.push(byte);
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

/// The byte of two digits. Lower case is tolerated, as the RFC advises readers.
fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_breaks_join_and_keep_the_first_number() {
        let lines = [(3, b"pre 785=C2=B5s=".to_vec()), (4, b" on 1ms".to_vec()), (5, b"--x=3D1".to_vec())];
        let decoded = decode(&lines);
        assert_eq!(decoded, [(3, "pre 785µs on 1ms".as_bytes().to_vec()), (5, b"--x=1".to_vec())]);
    }

    #[test]
    fn an_option_is_no_encoding() {
        assert!(!is_likely(b"flashbench --erasesize=4194304\n=====\n"));
        assert!(is_likely(b"flashbench --erasesize=3D4194304"));
        assert!(is_likely(b"align 4096\tpre 785us\ton=\n 808us"));
    }
}
