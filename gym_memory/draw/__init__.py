"""Draw figures and pages: SVG and HTML by hand, from plain rows and points."""
