/** The style of the reference page: light or dark by the reader's setting. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --ink: #1b2230; --soft: #5a6475; --line: #dfe3ea; --paper: #ffffff; --panel: #f6f7f9;
  --accent: #1f5fd0; --get: #0a7d4f; --post: #1f5fd0; --put: #9a5b00; --delete: #b3261e;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ef; --soft: #9aa4b5; --line: #2b3240; --paper: #12151b; --panel: #1a1f28;
    --accent: #86b2ff; --get: #5fd3a1; --post: #86b2ff; --put: #f0b35c; --delete: #ff8f87;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; display: grid; grid-template-columns: 17.5rem minmax(0, 1fr);
  background: var(--paper); color: var(--ink);
  font: 16px/1.6 Inter, 'Inter Fallback', system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
}
a { color: var(--accent); text-decoration: none; }
a:hover, p a, dd a, td a, footer a { text-decoration: underline; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 3rem;
  background: var(--panel); border-right: 1px solid var(--line); font-size: 0.875rem; line-height: 1.4;
}
nav .home { display: block; font-weight: 700; font-size: 1.125rem; margin-bottom: 1rem; color: var(--ink); }
nav > a:not(.home) { display: block; padding: 0.25rem 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li > a { display: block; padding: 0.25rem 0; }
nav li li { padding-left: 0.75rem; border-left: 1px solid var(--line); }
nav li li a { color: var(--soft); }
nav li li a:hover { color: var(--accent); }
nav [aria-current] { color: var(--ink); font-weight: 600; }
main ul.columns { columns: 14rem; padding-left: 1.25rem; }
main li:target { font-weight: 600; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem; }
main { padding: 2.5rem 3rem 6rem; width: 100%; max-width: 64rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.5rem; letter-spacing: -0.02em; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--soft); letter-spacing: 0; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 0.5rem; letter-spacing: -0.01em; }
article > h2 { margin-top: 0; }
article h2 a { color: inherit; }
h3 { font-size: 0.9375rem; margin: 1.75rem 0 0.5rem; }
h4 { font-size: 0.875rem; font-weight: 500; color: var(--soft); margin: 1rem 0 0.375rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
.lead { color: var(--soft); }
article { border-top: 1px solid var(--line); padding: 1.75rem 0; margin-top: 1.25rem; }
code, pre { font-family: var(--mono); font-size: 0.8125rem; }
p code, dd code, li code { background: var(--panel); border-radius: 4px; padding: 0.1em 0.3em; }
pre {
  background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.875rem 1rem; overflow-x: auto; line-height: 1.5; margin: 0.5rem 0;
}
.binding { margin: 0.25rem 0; display: flex; gap: 0.625rem; align-items: baseline; max-width: none; }
.binding .path { background: none; padding: 0; font-size: 0.9375rem; overflow-wrap: anywhere; }
.binding.minor .path { font-size: 0.8125rem; color: var(--soft); }
.method { font: 700 0.75rem/1 var(--mono); min-width: 3.5rem; flex: none; }
.method.get { color: var(--get); } .method.post { color: var(--post); }
.method.put { color: var(--put); } .method.delete { color: var(--delete); }
.legacy, .media { font-size: 0.75rem; font-weight: 400; color: var(--soft); }
.legacy { border: 1px solid var(--line); border-radius: 999px; padding: 0 0.5rem; }
.credentials { font-size: 0.875rem; color: var(--soft); }
.scroll { overflow-x: auto; }
.scroll + pre { margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; line-height: 1.45; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 0.8125rem; }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.fields { table-layout: fixed; min-width: 34rem; }
.fields th:nth-child(1) { width: 38%; } .fields th:nth-child(2) { width: 24%; }
td code { overflow-wrap: anywhere; }
.fields td:nth-child(2) { color: var(--soft); overflow-wrap: anywhere; }
td i { color: var(--soft); font-style: normal; }
.required { font-size: 0.75rem; color: var(--delete); white-space: nowrap; }
.d1 td:first-child { padding-left: 1rem; } .d2 td:first-child { padding-left: 2rem; }
.d3 td:first-child { padding-left: 3rem; } .d4 td:first-child { padding-left: 4rem; }
.d5 td:first-child { padding-left: 5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 1.25rem; margin: 0.75rem 0; }
dt { font-weight: 600; } dd { margin: 0; }
@media (max-width: 60rem) {
  body { display: block; }
  nav {
    position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line);
    padding: 1rem 1.25rem; display: flex; flex-wrap: wrap; gap: 0.25rem 1.125rem; align-items: baseline;
  }
  nav .home { margin: 0; width: 100%; }
  nav ul { display: contents; }
  nav ul ul { display: none; }
  nav > a:not(.home), nav li > a { display: inline-block; padding: 0.375rem 0; font-weight: 500; }
  main { padding: 1.5rem 1.25rem 4rem; }
  h1 { font-size: 1.625rem; }
  .fields { min-width: 0; }
  .fields thead { display: none; }
  .fields tr { display: block; border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  .fields td { display: block; border: 0; padding: 0.0625rem 0; }
  .fields td:empty { display: none; }
  .fields .d1 td { padding-left: 1rem; } .fields .d2 td { padding-left: 2rem; } .fields .d3 td { padding-left: 3rem; }
  .fields .d4 td { padding-left: 4rem; } .fields .d5 td { padding-left: 5rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
`;
