/** Reads the files of themes, and chooses the theme of a client. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { FindTheme, GuestTheme } from '../model/guest/view.js';
import { themeWarnings } from '../model/theme/contrast.js';
import { decodeTheme } from '../model/theme/design-tokens.js';
import { type Config, ConfigError } from '../platform/config/config.js';
import type { Log } from '../platform/logs/log.js';

type Fault = { readonly file: string; readonly path: string; readonly mend: string };
type Loaded = { readonly theme: GuestTheme | null; readonly faults: readonly Fault[] };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const loadFile = (file: string, log: Log): Loaded => {
  const name = basename(file, '.json');
  try {
    const { theme, faults } = decodeTheme(JSON.parse(readFileSync(file, 'utf8')));
    if (faults.length > 0) return { theme: null, faults: faults.map((mend) => ({ file, path: name, mend })) };
    for (const warning of themeWarnings(theme)) log.warn({ event: 'theme.contrast', theme: name }, warning);
    return { theme: { name, ...theme }, faults: [] };
  } catch (error) {
    return {
      theme: null,
      faults: [{ file, path: name, mend: `is no JSON file of Design Tokens (${reasonOf(error)})` }],
    };
  }
};

const listFiles = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => join(folder, file));
  } catch (error) {
    throw new ConfigError([{ file: folder, path: 'themes.folder', mend: `cannot be read (${reasonOf(error)})` }]);
  }
};

/** Throws ConfigError with all faults of all files. Readers who cannot read a theme's colours are a warning of the log. */
export const loadThemes = (
  { settings: { themes }, folder }: Pick<Config, 'settings' | 'folder'>,
  log: Log,
): FindTheme => {
  const loaded = (themes.folder === null ? [] : listFiles(resolve(folder, themes.folder))).map((file) =>
    loadFile(file, log),
  );
  const known = new Map(loaded.flatMap(({ theme }) => (theme === null ? [] : [[theme.name, theme] as const])));
  const clients = new Map(Object.entries(themes.clients));
  const missing = [...clients].filter(([, name]) => !known.has(name));
  const faults = [
    ...loaded.flatMap((each) => each.faults),
    ...missing.map(([client, name]) => ({
      file: 'themes.clients',
      path: client,
      mend: `there is no theme ${JSON.stringify(name)}; themes.folder has: ${[...known.keys()].join(', ') || 'none'}`,
    })),
  ];
  if (faults.length > 0) throw new ConfigError(faults);
  return (workspaceTheme, clientId) => {
    const name = clients.get(clientId) ?? workspaceTheme;
    return name === undefined ? null : (known.get(name) ?? { name });
  };
};
