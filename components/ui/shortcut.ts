/** The names on other keyboards for the keys of Apple’s. */
const ELSEWHERE: Readonly<Record<string, string>> = { '⌘': 'Ctrl', '⇧': 'Shift', '⌥': 'Alt', '⌫': 'Delete' };
/** The order in which keys that are held are named elsewhere; Apple names ⌘ last. */
const HELD: readonly string[] = ['Ctrl', 'Alt', 'Shift'];

/** Whether the browser that sends this User-Agent runs on a Mac, an iPad or an iPhone. */
export const isApple = (userAgent: string): boolean => /Macintosh|iPhone|iPad/.test(userAgent);

/** Returns a shortcut as the keys are called on the system: “⇧ ⌘ Z” on Apple’s, “Ctrl Shift Z” elsewhere. */
export function shortcutText(keys: string, apple: boolean): string {
  if (apple) return keys;
  const named = keys.split(' ').map(key => ELSEWHERE[key] ?? key);
  return [...HELD.filter(key => named.includes(key)), ...named.filter(key => !HELD.includes(key))].join(' ');
}
