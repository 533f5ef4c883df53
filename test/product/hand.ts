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

export const keyboard = (page: Page): Hand => {
  /** Goes on with the key Tab until the control has the focus, as a person without a pointer must. */
  const reach = async (control: Locator): Promise<void> => {
    await control.waitFor();
    for (let steps = 0; steps < mostSteps; steps += 1) {
      if (await hasFocus(control)) return;
      await page.keyboard.press('Tab');
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
