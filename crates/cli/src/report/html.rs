//! The page around the sections: one file, readable offline and on paper.

pub(crate) use pairdp_plot::escape;

/// Names and values, two columns.
pub(crate) fn table(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value))
    };
    format!("<table class=\"facts\">\n{}</table>\n", rows.iter().map(row).collect::<String>())
}

/// A titled part of the page; the body is HTML.
pub(crate) fn section(title: &str, body: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escape(title))
}

/// A plot with a line below it that says what to see in it.
pub(crate) fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", escape(caption))
}

/// A paragraph of plain text.
pub(crate) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// The whole document. The policy lets a browser load nothing at all from anywhere, and run nothing.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title),
        include_str!("style.css"),
    )
}
