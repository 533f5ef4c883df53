/** LibreOffice, where it is installed: what it reads in a workbook. CI does not install it, because it takes 270 MB. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const office = ['/usr/bin/soffice', '/usr/bin/libreoffice'].find((path) => existsSync(path));

/** Says so where it is missing. */
export const hasOffice = (): boolean => {
  if (office === undefined) console.warn('LibreOffice is not installed: it reads no workbook back.');
  return office !== undefined;
};

/** Returns the lines of each sheet as CSV by its name: text in quotes, numbers and dates without, as they are shown. */
export const sheetsByOffice = async (workbook: Uint8Array): Promise<ReadonlyMap<string, readonly string[]>> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-office-'));
  try {
    await writeFile(join(folder, 'book.xlsx'), workbook);
    // The eighth and later tokens: quote text cells, keep formats, every sheet.
    const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1';
    const profile = `-env:UserInstallation=file://${folder}/profile`;
    const args = [profile, '--headless', '--convert-to', filter, '--outdir', folder, join(folder, 'book.xlsx')];
    await promisify(execFile)(String(office), args, { timeout: 120_000 });
    const sheets = new Map<string, readonly string[]>();
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.csv'))) {
      const text = await readFile(join(folder, file), 'utf8');
      sheets.set(file.slice('book-'.length, -'.csv'.length), text.trim().split('\n'));
    }
    return sheets;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
