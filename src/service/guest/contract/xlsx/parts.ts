/** The parts of a workbook (ECMA-376) that are not worksheets. */
import { escapeXml } from './cells.js';
import { dateFormatCodes } from './date-formats.js';

export const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const kind = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const fixedCodes = ['yyyy\\-mm\\-dd', 'yyyy\\-mm\\-dd\\ hh:mm:ss', 'yyyy\\-mm', 'yyyy', 'yyyy\\-mm\\-dd\\ hh:mm'];

/** Numbers below are built in. */
const firstCode = 164;

const numbered = (id: number): string => `numFmtId="${id}" fontId="0" applyNumberFormat="1"`;

/** The cell formats, in the order of `formats` in cells.ts. `language` orders the parts of dates. */
export const styles = (language: string, numberCodes: readonly string[]): string => {
  const codes = [...fixedCodes, ...dateFormatCodes(language), ...numberCodes];
  const cells = [
    'numFmtId="0" fontId="0"',
    ...[164, 165, 166, 167].map(numbered),
    'numFmtId="49" fontId="0" applyNumberFormat="1" quotePrefix="1"',
    'numFmtId="0" fontId="1" applyFont="1"',
    ...codes.slice(4).map((_, index) => numbered(firstCode + 4 + index)),
  ];
  return `${xml}<styleSheet xmlns="${main}"><numFmts count="${codes.length}">${codes
    .map((code, index) => `<numFmt numFmtId="${firstCode + index}" formatCode="${escapeXml(code)}"/>`)
    .join(
      '',
    )}</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${cells.length}">${cells
    .map((format) => `<xf ${format} fillId="0" borderId="0" xfId="0"/>`)
    .join('')}</cellXfs></styleSheet>`;
};

const numbersOf = (names: readonly string[]): readonly number[] => names.map((_, index) => index + 1);

const contentTypes = (names: readonly string[]): string =>
  `${xml}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${kind}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${kind}.styles+xml"/>${numbersOf(
    names,
  )
    .map((number) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${kind}.worksheet+xml"/>`)
    .join('')}</Types>`;

const relationship = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;

const relationships = (list: readonly string[]): string =>
  `${xml}<Relationships xmlns="${packages}/relationships">${list.join('')}</Relationships>`;

const workbook = (names: readonly string[]): string =>
  `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${names
    .map((name, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
    .join('')}</sheets></workbook>`;

/** Returns the parts by their path, for worksheets of these names, without the styles. */
export const fixedParts = (names: readonly string[]): readonly (readonly [path: string, text: string])[] => [
  ['[Content_Types].xml', contentTypes(names)],
  ['_rels/.rels', relationships([relationship('rId1', 'officeDocument', 'xl/workbook.xml')])],
  ['xl/workbook.xml', workbook(names)],
  [
    'xl/_rels/workbook.xml.rels',
    relationships([
      ...numbersOf(names).map((number) => relationship(`rId${number}`, 'worksheet', `worksheets/sheet${number}.xml`)),
      relationship(`rId${names.length + 1}`, 'styles', 'styles.xml'),
    ]),
  ],
];

const longestName = 31;

/** The name without what a sheet's name may not contain. */
const allowed = (name: string): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cs}[\]:*?/\\]/gu, ' ')
    .trim()
    .replace(/^'+|'+$/g, '')
    .trim();

const shortened = (name: string, length: number): string => {
  const cut = name.slice(0, length).trim();
  // A cut may not divide a character.
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
};

/** Returns a name for each sheet: at most 31 characters, none twice, whatever the case. `taken`: names already used. `nameless`: for one without a name. */
export const sheetNames = (names: readonly string[], taken: readonly string[], nameless: string): readonly string[] => {
  // `History` is reserved.
  const used = new Set(['history', ...taken.map((name) => name.toLowerCase())]);
  return names.map((name) => {
    const wanted = allowed(name) || nameless;
    let chosen = shortened(wanted, longestName);
    for (let count = 2; used.has(chosen.toLowerCase()); count += 1) {
      const end = ` (${count})`;
      chosen = `${shortened(wanted, longestName - end.length)}${end}`;
    }
    used.add(chosen.toLowerCase());
    return chosen;
  });
};
