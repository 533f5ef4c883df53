/** Gives each block of code a button that copies it. Without this script, the code is still there to be selected. */

const shownMs = 2000;

/** Pages that are not served over HTTPS have no clipboard of their own: there, the selected text is copied. */
const copyText = async (code: HTMLElement): Promise<void> => {
  const text = code.textContent ?? '';
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  window.getSelection()?.selectAllChildren(code);
  if (!document.execCommand('copy')) throw new Error('The browser does not copy the selected text.');
};

const buttonOf = (code: HTMLElement): HTMLButtonElement => {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const say = (text: string): void => {
    button.textContent = text;
    status.textContent = text;
    setTimeout(() => {
      button.textContent = 'Copy';
      status.textContent = '';
    }, shownMs);
  };
  button.addEventListener('click', () => {
    copyText(code).then(
      () => say('Copied'),
      () => say('Select the code and copy it'),
    );
  });
  return button;
};

const status = document.createElement('p');
status.className = 'unseen';
status.setAttribute('role', 'status');

export const addCopyButtons = (): void => {
  const blocks = document.querySelectorAll<HTMLElement>('pre > code');
  if (blocks.length === 0) return;
  document.body.append(status);
  for (const code of blocks) {
    const place = document.createElement('div');
    place.className = 'code';
    code.parentElement?.replaceWith(place);
    const block = document.createElement('pre');
    block.tabIndex = 0;
    block.append(code);
    place.append(block, buttonOf(code));
  }
};
