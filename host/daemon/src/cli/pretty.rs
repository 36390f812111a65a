//! JSON for people: one member a line, every number and string as it stands.

/// Spaces of one step in.
const STEP: usize = 2;

/// JSON over several lines, indented. Digits and escapes stay as they are, unlike through a parser, whose numbers end where
/// its types do. What is no JSON comes out as long as it went in, give or take white space.
pub(super) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if in_string {
            out.push(char);
            (in_string, escaped) = (escaped || char != '"', !escaped && char == '\\');
            continue;
        }
        match char {
            '{' | '[' => {
                out.push(char);
                while chars.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                if let Some(close) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(char);
            }
            ',' => {
                out.push(char);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => {
                in_string = other == '"';
                out.push(other);
            }
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth * STEP));
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn as_a_parser_would_lay_it_out() {
        let text = r#"{"a":[1,{"b" : "x, [y] \" {\\"}],"c":{ },"d":[],"e":true}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(json(text), serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn digits_stay() {
        assert_eq!(json("[123456789012345678901234567890, 1.10]"), "[\n  123456789012345678901234567890,\n  1.10\n]");
    }

    #[test]
    fn what_is_no_json_does_no_harm() {
        for text in ["", "}", "]]]]", "\"", "{", "nonsense"] {
            json(text);
        }
    }
}
