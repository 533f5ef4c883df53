// The theme studio in a page of the documentation: the form, and the places that its script fills.
const choice = (name, value, label, checked = false) =>
  `<label><input type="radio" name="${name}" value="${value}"${checked ? ' checked' : ''}> ${label}</label>`;
const group = (legend, name, choices) =>
  `<fieldset><legend>${legend}</legend>${choices.map(([value, label], at) => choice(name, value, label, at === 0)).join('')}</fieldset>`;

const fonts = [
  ['', 'The elements’ own'],
  ['Inter, sans-serif', 'Inter'],
  ['system-ui, sans-serif', 'System'],
  ['Georgia, serif', 'Georgia'],
  ['Verdana, sans-serif', 'Verdana'],
  ['ui-monospace, monospace', 'Monospace'],
];

/** `shown`: the block of code with the first file, which the page shows where no script runs. */
export const themeStudioHtml = (shown) => `<div class="theme-studio">
<div class="panel">
<form hidden aria-label="Theme">
<label>Brand colour <input type="color" name="brand" value="#0a58ca"></label>
<label>Radius <input type="range" name="radius" min="0" max="24" value="4"> <output>4 px</output></label>
<label>Font <select name="font">${fonts.map(([value, label]) => `<option value="${value}">${label}</option>`).join('')}</select></label>
${group('Density', 'density', [
  ['usual', 'Usual'],
  ['compact', 'Compact'],
  ['airy', 'Airy'],
])}
${group('Colours', 'scheme', [
  ['light', 'Light'],
  ['dark', 'Dark'],
])}
${group('Direction', 'direction', [
  ['ltr', 'English, left to right'],
  ['rtl', 'Arabic, right to left'],
])}
${group('Width', 'width', [
  ['whole', 'Whole'],
  ['phone', 'Phone'],
])}
<ul class="warnings" aria-live="polite"></ul>
</form>
<div class="tokens">${shown}</div>
</div>
<div class="frame light whole" role="region" aria-label="Charts with the theme"><p role="status">The charts are loading.</p></div>
</div>
`;
