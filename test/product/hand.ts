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

/** What a page's script sees of an element. */
type Part = {
  closest(selector: string): Part | null;
  contains(other: Part | null): boolean;
  querySelectorAll(selector: string): Iterable<Part>;
  getRootNode(): { readonly activeElement?: Part | null };
};

/** The key Tab reaches a grid once: within it, the arrow that leads on to the control. Undefined outside its grid. */
const arrowTo = (control: Locator): Promise<string | undefined> =>
  control.evaluate((element: Part) => {
    const focused = element.getRootNode().activeElement;
    const grid = element.closest('[role=grid]');
    if (focused == null || grid?.contains(focused) !== true) return undefined;
    const [from, to] = [focused.closest('[role=row]'), element.closest('[role=row]')];
    const rows: readonly (Part | null)[] = [...grid.querySelectorAll('[role=row]')];
    if (from === to && to !== null) {
      const parts = [...to.querySelectorAll('[tabindex]')];
      return parts.indexOf(focused) < parts.indexOf(element) ? 'ArrowRight' : 'ArrowLeft';
    }
    return rows.indexOf(from) < rows.indexOf(to) ? 'ArrowDown' : 'ArrowUp';
  });

export const keyboard = (page: Page): Hand => {
  /** Goes on with the key Tab, or an arrow, until the control has the focus, as a person without a pointer must. */
  const reach = async (control: Locator): Promise<void> => {
    await control.waitFor();
    for (let steps = 0; steps < mostSteps; steps += 1) {
      if (await hasFocus(control)) return;
      await page.keyboard.press((await arrowTo(control)) ?? 'Tab');
    }
    throw new Error(`the keyboard never reaches ${control}`);
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
