//! The template that turns messages into the prompt of a model: Jinja at llama.cpp, Go at Ollama.

/// Whether a template has a place for tools: it names the variable that holds them, `tools` or `.Tools`.
pub(crate) fn takes_tools(template: &str) -> bool {
    let mut words = template.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.eq_ignore_ascii_case("tools"))
}

#[cfg(test)]
mod tests {
    use super::takes_tools;

    #[test]
    fn a_template_takes_tools_when_it_names_their_variable() {
        for template in [
            "{%- if tools %}{{ tools | tojson }}{%- endif %}",
            "{{- if .Tools }}<tools>{{ range .Tools }}{{ . }}{{ end }}</tools>{{ end }}",
            "{% for tool in tools %}{{ tool }}{% endfor %}",
        ] {
            assert!(takes_tools(template), "{template}");
        }
        for template in [
            "{% for message in messages %}{{ message.content }}{% endfor %}",
            "{{ if .System }}{{ .System }}{{ end }}{{ .Prompt }}",
            "{% if builtin_tools is defined %}{{ builtin_tools }}{% endif %}",
            "{{ message.toolset }}",
            "",
        ] {
            assert!(!takes_tools(template), "{template}");
        }
    }
}
