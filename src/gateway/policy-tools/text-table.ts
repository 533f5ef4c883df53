/** Returns the rows as text with aligned columns, two spaces apart. The last column is not padded. */
export const writeTable = (rows: readonly (readonly string[])[], indent = ''): string => {
  const widths = rows.reduce<readonly number[]>(
    (known, row) => row.map((cell, column) => Math.max(cell.length, known[column] ?? 0)),
    [],
  );
  return rows
    .map((row) => indent + row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
};
