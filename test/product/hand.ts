/** The hand of a person at a page: a pointer, or the keyboard alone. Both find a control by its name, and then use it. */
import type { Locator, Page } from 'playwright-core';

export type Hand = {
  /** Presses a button or follows a link. */
  readonly press: (control: Locator) => Promise<void>;
  /** Writes into a field, in place of what it has, and leaves it. */
  readonly write: (field: Locator, text: string) => Promise<void>;
  readonly choose: (list: Locator, label: string) => Promise<void>;
  readonly check: (box: Locator) => Promise<void>;
};

export const pointer = (): Hand => ({
  press: (control) => control.click(),
  write: async (field, text) => {
    await field.fill(text);
    await field.blur();
  },
  choose: async (list, label) => void (await list.selectOption({ label })),
  check: (box) => box.check(),
});

/** More than any page has controls. */
const mostSteps = 3000;

const hasFocus = (control: Locator): Promise<boolean> =>
  control.evaluate((element: { getRootNode(): { readonly activeElement?: unknown } }) => {
    return element.getRootNode().activeElement === element;
  });

/** How often a person presses Tab before looking where the focus is. */
const stride = 8;

type Watched = {
  /** How often a key was pressed since the control had the focus. Null: it never had it. Undefined: nobody counts. */
  keysSince?: number | null;
  readonly ownerDocument: { addEventListener(name: 'keydown', heard: () => void, isFirst: boolean): void };
  addEventListener(name: 'focus', heard: () => void): void;
};

/** Counts keys from the first call on. The page may have replaced the control meanwhile: it is counted anew. */
const keysSince = (control: Locator): Promise<number | null> =>
  control.evaluate((element: Watched) => {
    if (element.keysSince !== undefined) return element.keysSince;
    element.keysSince = null;
    element.addEventListener('focus', () => {
      element.keysSince = 0;
    });
    const count = (): void => {
      if (typeof element.keysSince === 'number') element.keysSince += 1;
    };
    element.ownerDocument.addEventListener('keydown', count, true);
    return null;
  });

export const keyboard = (page: Page): Hand => {
  const press = async (key: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await page.keyboard.press(key);
  };
  /** Goes on with the key Tab until the control has the focus, as a person without a pointer must, and back if it was passed. */
  const reach = async (control: Locator): Promise<void> => {
    await control.waitFor();
    for (let steps = 0; steps < mostSteps; steps += stride) {
      if (await hasFocus(control)) return;
      const passedBy = await keysSince(control);
      if (passedBy !== null && passedBy > 0 && passedBy < stride) await press('Shift+Tab', passedBy);
      else await press('Tab', stride);
    }
    throw new Error(`the key Tab never reaches ${control}`);
  };
  return {
    press: async (control) => {
      await reach(control);
      await page.keyboard.press('Enter');
    },
    write: async (field, text) => {
      await reach(field);
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
      await page.keyboard.press('Tab');
    },
    choose: async (list, label) => {
      await reach(list);
      await page.keyboard.press('Home');
      const shown = () =>
        list.evaluate(
          (element: { readonly selectedOptions: ArrayLike<{ readonly label: string }> }) =>
            element.selectedOptions[0]?.label,
        );
      for (let steps = 0; (await shown()) !== label; steps += 1) {
        if (steps > mostSteps) throw new Error(`the list ${list} has no ${label}`);
        await page.keyboard.press('ArrowDown');
      }
    },
    check: async (box) => {
      await reach(box);
      await page.keyboard.press('Space');
    },
  };
};
