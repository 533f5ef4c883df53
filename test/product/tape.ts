/**
 * Does a flow in the browser by one hand, and counts what a person does: by pointer, clicks; by keyboard, keys, where a
 * control counts only if Tab or the arrows reach it. Keeps a picture of each step in the folder TEST_SCREENSHOTS.
 */
import type { Locator, Page } from 'playwright-core';

export type Hand = 'pointer' | 'keyboard';

const screenshots = process.env.TEST_SCREENSHOTS;
const mostKeys = 400;

const isFocused = (control: Locator): Promise<boolean> => control.evaluate((element) => element.matches(':focus'));

export const startTape = (page: Page, flow: string, hand: Hand) => {
  let clicks = 0;
  let keys = 0;
  let steps = 0;
  const screens = new Set<string>();

  const look = async (step: string): Promise<void> => {
    steps += 1;
    const dialog = page.locator('dialog[open]').last();
    const name = (await dialog.count()) > 0 ? await dialog.getAttribute('aria-label') : '';
    const { pathname, search } = new URL(page.url());
    screens.add(`${pathname}${search} ${name ?? ''}`);
    if (screenshots === undefined) return;
    const path = `${screenshots}/tape-${flow}-${hand}-${String(steps).padStart(2, '0')}-${step.replaceAll(/\W+/g, '-')}.png`;
    await page.screenshot({ path });
  };

  const type = async (key: string): Promise<void> => {
    keys += 1;
    await page.keyboard.press(key);
  };

  /** Goes on with `key` until the control has the focus. */
  const reach = async (control: Locator, key = 'Tab'): Promise<void> => {
    await control.waitFor();
    for (let at = 0; at < mostKeys; at += 1) {
      if (await isFocused(control)) return;
      await type(key);
    }
    throw new Error(`${key} does not reach ${String(control)}`);
  };

  return {
    hand,
    look,
    type,
    reach,
    /** Presses a button or follows a link. `by`: the key that leads to it. */
    press: async (control: Locator, step: string, by?: string): Promise<void> => {
      if (hand === 'pointer') {
        clicks += 1;
        await control.click();
      } else {
        await reach(control, by);
        await type('Enter');
      }
      await look(step);
    },
    write: async (field: Locator, text: string, step: string): Promise<void> => {
      if (hand === 'pointer') clicks += 1;
      else await reach(field);
      if (hand === 'pointer') await field.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
      await look(step);
    },
    /** Chooses an option of a list. */
    choose: async (list: Locator, label: string, step: string): Promise<void> => {
      if (hand === 'pointer') clicks += 2;
      else await reach(list);
      await list.selectOption({ label });
      if (hand === 'keyboard') keys += 2;
      await look(step);
    },
    drag: async (from: { x: number; y: number }, to: { x: number; y: number }, step: string): Promise<void> => {
      clicks += 1;
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 12 });
      await page.mouse.up();
      await look(step);
    },
    counts: () => ({ clicks, keys, screens: screens.size }),
  };
};

export type Tape = ReturnType<typeof startTape>;
