/** The names of Apple keys on other keyboards. */
const OTHER_NAMES: Readonly<Record<string, string>> = { '⌘': 'Ctrl', '⇧': 'Shift', '⌥': 'Alt', '⌫': 'Delete' };
/** The order of modifier keys on other systems. Apple puts ⌘ last. */
const MODIFIERS: readonly string[] = ['Ctrl', 'Alt', 'Shift'];

/** Returns true if the User-Agent is that of a Mac, an iPad or an iPhone. */
export const isApple = (userAgent: string): boolean => /Macintosh|iPhone|iPad/.test(userAgent);

/** Returns a shortcut in the notation of the system: “⇧ ⌘ Z” on Apple devices, “Ctrl Shift Z” on others. */
export function shortcutText(keys: string, apple: boolean): string {
  if (apple) return keys;
  const named = keys.split(' ').map(key => OTHER_NAMES[key] ?? key);
  return [...MODIFIERS.filter(key => named.includes(key)), ...named.filter(key => !MODIFIERS.includes(key))].join(' ');
}
