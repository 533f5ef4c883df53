/** The paper of a PDF: A4, or Letter in a country where it is usual. Each page has its number. */
import type { Page } from 'playwright-core';
import { knownLocale } from '../../model/query/numbers.js';

const ofLetter = new Set('US CA MX PH PR CO CL VE GT CR PA DO SV HN NI'.split(' '));

/** A language without a country says nothing of paper, nor does one that nobody knows. */
const formatFor = (language: string | undefined): 'A4' | 'Letter' => {
  const region = language === undefined ? undefined : new Intl.Locale(knownLocale(language)).region;
  return region !== undefined && ofLetter.has(region) ? 'Letter' : 'A4';
};

// Chromium draws these apart from the page: they know none of its styles.
const nothing = '<span></span>';
const numbers =
  '<div style="width:100%;text-align:center;font:8px sans-serif;color:#5a6475"><span class="pageNumber"></span> / <span class="totalPages"></span></div>';

export const printPage = (page: Page, language: string | undefined): Promise<Uint8Array> =>
  page.pdf({
    format: formatFor(language),
    printBackground: true,
    margin: { top: '12mm', right: '12mm', bottom: '16mm', left: '12mm' },
    displayHeaderFooter: true,
    headerTemplate: nothing,
    footerTemplate: numbers,
  });
