/** Entry point of a chunk: reads the theme that a page gives to an element. */
import { themeWarnings } from '../../model/theme/contrast.js';
import { decodeTheme, type Theme } from '../../model/theme/design-tokens.js';

/** Says on the console what is wrong with the theme, and returns what is right. */
export const readOwnTheme = (text: string): Theme => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    console.error(
      'guestlist: the attribute "theme" is neither light, dark nor auto, and no JSON of Design Tokens',
      error,
    );
    return { light: {}, dark: {} };
  }
  const { theme, faults } = decodeTheme(given);
  if (faults.length > 0) console.error(`guestlist: the theme has faults:\n${faults.join('\n')}`);
  const warnings = themeWarnings(theme);
  if (warnings.length > 0)
    console.warn(`guestlist: readers cannot tell colours of the theme apart:\n${warnings.join('\n')}`);
  return theme;
};
