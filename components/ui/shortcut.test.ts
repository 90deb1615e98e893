import { expect, test } from 'vitest';
import { isApple, shortcutText } from './shortcut.ts';

test.each([
  ['⌘ K', 'Ctrl K'],
  ['⇧ ⌘ Z', 'Ctrl Shift Z'],
  ['⌥ ↑ ↓ ← →', 'Alt ↑ ↓ ← →'],
  ['⌫', 'Delete'],
  ['g w', 'g w'],
  ['?', '?'],
])('%s is %s on systems other than Apple’s', (keys, elsewhere) => {
  expect(shortcutText(keys, false)).toBe(elsewhere);
  expect(shortcutText(keys, true)).toBe(keys);
});

test.each([
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    true,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    true,
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
    false,
  ],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/130.0 Safari/537.36', false],
  ['', false],
])('the system of %s', (userAgent, apple) => expect(isApple(userAgent)).toBe(apple));
