/** The texts of the demo host page: English, and German for a German browser, as a host with German customers has them. */
const german: ReadonlyMap<string, string> = new Map([
  ['Operations', 'Betrieb'],
  ['Theme', 'Farben'],
  ['Auto', 'Automatisch'],
  ['Light', 'Hell'],
  ['Dark', 'Dunkel'],
  ['Signed in as', 'Angemeldet als'],
  ['Nobody', 'Niemand'],
  ['One moment…', 'Einen Moment…'],
  ['Every airport sees its own flights', 'Jeder Flughafen sieht seine eigenen Flüge'],
  [
    'Three million real flights, one database, five people. Sign in as one of them.',
    'Drei Millionen echte Flüge, eine Datenbank, fünf Personen. Melden Sie sich als eine davon an.',
  ],
  ['Asking the gateway for a token…', 'Das Gateway wird um ein Token gebeten…'],
  ['This token opens nothing.', 'Dieses Token öffnet nichts.'],
  ['Dashboards', 'Dashboards'],
  // What a tab is called until its dashboard was read.
  ['Delays', 'Verspätungen'],
  ['Routes', 'Strecken'],
  ['The gateway gave no token', 'Das Gateway gab kein Token'],
  [
    'This is the unchanged answer of POST /embed-token to this user’s session. The gateway’s log has the cause: look for the reference.',
    'Das ist die unveränderte Antwort von POST /embed-token auf die Sitzung dieser Person. Die Ursache steht im Protokoll des Gateways: Suchen Sie nach der Referenz.',
  ],
  ['You are', 'Sie sind'],
  ['Airport', 'Flughafen'],
  ['Roles', 'Rollen'],
  ['Region', 'Region'],
  ['none', 'keine'],
  ['You may see', 'Sie dürfen sehen'],
  ['Nothing: the gateway refused with {code}.', 'Nichts: Das Gateway lehnte mit {code} ab.'],
  ['Claims of this session', 'Angaben dieser Sitzung'],
  ['Flights from {airport}, and no other airport’s', 'Flüge ab {airport} und von keinem anderen Flughafen'],
  ['The rows behind a chart', 'Die Zeilen hinter einem Diagramm'],
  ['Downloads as CSV', 'Downloads als CSV'],
  ['All destinations', 'Alle Ziele'],
  ['Of those, only flights to {region}', 'Davon nur Flüge nach {region}'],
  ['no region', 'keiner Region'],
  ['by the role “regional” and the session’s region', 'durch die Rolle „regional“ und die Region der Sitzung'],
  ['Not known yet', 'Noch nicht bekannt'],
  ['Yes', 'Ja'],
  ['No', 'Nein'],
  ['{reason} Next try in {seconds} s.', '{reason} Nächster Versuch in {seconds} s.'],
  // Titles and descriptions of config/demo/users.yaml.
  ['Analyst', 'Analystin'],
  ['Operations manager', 'Betriebsleiter'],
  ['Regional analyst', 'Regionaler Analyst'],
  ['New colleague', 'Neue Kollegin'],
  ['Sees the delays of flights leaving Los Angeles.', 'Sieht die Verspätungen der Flüge ab Los Angeles.'],
  [
    'Sees delays and routes of Los Angeles, the rows behind them, and may download.',
    'Sieht Verspätungen und Strecken von Los Angeles, die Zeilen dahinter, und darf herunterladen.',
  ],
  [
    "The same page as her colleague in Los Angeles, with Atlanta's flights.",
    'Dieselbe Seite wie ihre Kollegin in Los Angeles, mit den Flügen von Atlanta.',
  ],
  [
    'Sees flights from San Francisco to destinations in California only, and that the filter is locked.',
    'Sieht nur Flüge von San Francisco zu Zielen in Kalifornien, und dass der Filter gesperrt ist.',
  ],
  [
    'Has no role yet, so no policy lets her see anything.',
    'Hat noch keine Rolle, deshalb lässt keine Richtlinie sie etwas sehen.',
  ],
]);

/** The language of the page, which its elements take too. */
export const language = /^de\b/i.test(navigator.language) ? 'de' : 'en';

/** The text in the page's language, with its fields. A text without a translation stays in English. */
export const say = (text: string, fields: Readonly<Record<string, string>> = {}): string =>
  ((language === 'de' ? german.get(text) : undefined) ?? text).replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => fields[name] ?? '',
  );
