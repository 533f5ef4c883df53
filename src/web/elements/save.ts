/** Spreadsheets take a CSV file without the mark for one in an old encoding. Programs get the file from the service. */
const marked = (file: Blob): Blob =>
  file.type.startsWith('text/csv') ? new Blob(['\uFEFF', file], { type: file.type }) : file;

/** Starts a browser download. Characters that file systems refuse become a dash. A CSV file begins with a byte order mark. */
export const save = (file: Blob, name: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(marked(file));
  link.download = name.replaceAll(/[\\/:*?"<>|]+/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
