/** Finds texts by words. */

/** Without case and accents. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export const wordsOf = (search: string): readonly string[] => folded(search).split(/\s+/).filter(Boolean);

/** Whether a text has every word of the search. Without words, every text has them. */
export const matcher = (search: string): ((text: string) => boolean) => {
  const words = wordsOf(search);
  if (words.length === 0) return () => true;
  return (text) => {
    const own = folded(text);
    return words.every((word) => own.includes(word));
  };
};
